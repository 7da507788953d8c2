package release

import (
	"os/exec"
	"runtime"
	"testing"
)

func TestVersions(t *testing.T) {
	for _, c := range []struct{ given, npm, python, debian, alpine string }{
		{"1.2.3", "1.2.3", "1.2.3", "1.2.3", "1.2.3"},
		{"v10.0.1", "10.0.1", "10.0.1", "10.0.1", "10.0.1"},
		{"1.2.3-alpha.1", "1.2.3-alpha.1", "1.2.3a1", "1.2.3~alpha.1", "1.2.3_alpha1"},
		{"1.2.3-beta.2", "1.2.3-beta.2", "1.2.3b2", "1.2.3~beta.2", "1.2.3_beta2"},
		{"0.0.0-dev.120", "0.0.0-dev.120", "0.0.0.dev120", "0.0.0~dev.120", "0.0.0_pre120"},
		{"1.2.3-rc.10", "1.2.3-rc.10", "1.2.3rc10", "1.2.3~rc.10", "1.2.3_rc10"},
	} {
		v, err := ParseVersion(c.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := [...]string{v.String(), v.Python(), v.Debian(), v.Alpine()}; got != [...]string{c.npm, c.python, c.debian, c.alpine} {
			t.Errorf("%s is %q", c.given, got)
		}
	}
	for _, wrong := range []string{"", "1", "1.2", "01.2.3", "1.2.3.4", "1.2.3-rc", "1.2.3-rc1", "1.2.3-rc.01", "1.2.3-foo.1", "1.2.3+dirty", "1.2.3-rc.99999999999999999999", "1.2.3 "} {
		if v, err := ParseVersion(wrong); err == nil {
			t.Errorf("%q is taken for %s", wrong, v)
		}
	}
}

func TestDescribed(t *testing.T) {
	for _, c := range []struct {
		describe string
		commits  int
		want     string
	}{
		{"", 7, "0.0.0-dev.7"},
		{"v1.2.3-0-g0123abc", 50, "1.2.3"},
		{"v1.2.3-4-g0123abc", 54, "1.2.4-dev.54"},
		{"v1.3.0-rc.1-0-g0123abc", 60, "1.3.0-rc.1"},
		{"v1.3.0-rc.1-2-g0123abc", 62, "1.3.0-dev.62"},
	} {
		v, err := Described(c.describe, c.commits)
		if err != nil || v.String() != c.want {
			t.Errorf("%q is %s, not %s: %v", c.describe, v, c.want, err)
		}
	}
	if v, err := Described("nightly-3-g0123abc", 1); err == nil {
		t.Errorf("a tag that is no version is taken for %s", v)
	}
}

// TestOrder has dpkg say that versions before a release are older than it.
func TestOrder(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skipf("SKIPPED on %s: there is no dpkg", runtime.GOOS)
	}
	order := []string{"1.2.3-alpha.9", "1.2.3-alpha.10", "1.2.3-beta.1", "1.2.3-dev.5", "1.2.3-rc.1", "1.2.3", "1.2.4-dev.1"}
	for i := range order[1:] {
		a, _ := ParseVersion(order[i])
		b, _ := ParseVersion(order[i+1])
		if err := exec.Command("dpkg", "--compare-versions", a.Debian(), "lt", b.Debian()).Run(); err != nil {
			t.Errorf("%s is not older than %s: %v", a.Debian(), b.Debian(), err)
		}
	}
}

func TestPlatforms(t *testing.T) {
	all, err := ParsePlatforms("all")
	if err != nil || len(all) != 6 {
		t.Errorf("%v %v", all, err)
	}
	two, err := ParsePlatforms("linux/arm64,windows/amd64")
	if err != nil || len(two) != 2 || two[0].WheelTag() != "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64" || two[1].WheelTag() != "win_amd64" || two[1].NodeOS() != "win32" || two[1].NodeCPU() != "x64" || two[1].Program() != "toolman.exe" {
		t.Errorf("%v %v", two, err)
	}
	if _, err := ParsePlatforms("linux/386"); err == nil {
		t.Error("linux/386 is a platform")
	}
}
