package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/resolve"
	"toolman/cmd/internal/setup"
	"toolman/router/httpd/ops"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// What of Kubernetes' objects deploy/kubernetes.yaml uses. Other keys are typing errors.
type (
	meta struct {
		Name   string
		Labels map[string]string
	}
	configMap struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Data       map[string]string
	}
	service struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			Selector        map[string]string
			SessionAffinity string `yaml:"sessionAffinity"`
			Ports           []struct {
				Name       string
				Port       int
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	deployment struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			Replicas int
			Strategy struct {
				Type          string
				RollingUpdate struct {
					MaxUnavailable int `yaml:"maxUnavailable"`
					MaxSurge       int `yaml:"maxSurge"`
				} `yaml:"rollingUpdate"`
			}
			Selector selector
			Template struct {
				Metadata meta
				Spec     pod
			}
		}
	}
	pod struct {
		AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
		TopologySpreadConstraints     []struct {
			MaxSkew           int      `yaml:"maxSkew"`
			TopologyKey       string   `yaml:"topologyKey"`
			WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
			LabelSelector     selector `yaml:"labelSelector"`
		} `yaml:"topologySpreadConstraints"`
		SecurityContext struct {
			RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
			RunAsUser      int                   `yaml:"runAsUser"`
			RunAsGroup     int                   `yaml:"runAsGroup"`
			FSGroup        int                   `yaml:"fsGroup"`
			SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Containers []container
		Volumes    []struct {
			Name      string
			ConfigMap *meta                    `yaml:"configMap"`
			EmptyDir  *struct{ Medium string } `yaml:"emptyDir"`
			Projected *struct {
				DefaultMode int `yaml:"defaultMode"`
				Sources     []struct {
					Secret struct {
						Name  string
						Items []struct{ Key, Path string }
					}
				}
			}
		}
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	container struct {
		Name            string
		Image           string
		ImagePullPolicy string `yaml:"imagePullPolicy"`
		Args            []string
		Env             []struct {
			Name      string
			ValueFrom struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
			} `yaml:"valueFrom"`
		}
		Ports []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		StartupProbe    probe `yaml:"startupProbe"`
		LivenessProbe   probe `yaml:"livenessProbe"`
		ReadinessProbe  probe `yaml:"readinessProbe"`
		Resources       struct{ Requests, Limits map[string]string }
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	probe struct {
		HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
		TCPSocket        struct{ Port string }       `yaml:"tcpSocket"`
		PeriodSeconds    int                         `yaml:"periodSeconds"`
		TimeoutSeconds   int                         `yaml:"timeoutSeconds"`
		FailureThreshold int                         `yaml:"failureThreshold"`
	}
)

// objects reads deploy/kubernetes.yaml.
func objects(t *testing.T) (c configMap, d deployment, s service) {
	t.Helper()
	decodeYAML(t, "deploy/kubernetes.yaml", &c, &d, &s)
	if got := c.APIVersion + c.Kind + d.APIVersion + d.Kind + s.APIVersion + s.Kind; got != "v1ConfigMapapps/v1Deploymentv1Service" {
		t.Errorf("the objects are %s", got)
	}
	return c, d, s
}

// decodeYAML reads a file with these objects, which have to have fields for all of its keys.
func decodeYAML(t *testing.T, file string, into ...any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	for _, into := range into {
		if err := dec.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("more objects than this test knows, or: %v", err)
	}
}

// configured is the configuration in the ConfigMap, read as the container would. That has no
// variables: whatever is in its environment may come to be in that of servers.
func configured(t *testing.T, c configMap) *config.Config {
	t.Helper()
	return configuredIn(t, c.Data["tools.toml"], nil)
}

// configuredIn is configured for a text and a container with these variables.
func configuredIn(t *testing.T, text string, environ map[string]string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tools.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := (&setup.Flags{HTTP: true}).Options()
	o.LookupEnv = func(name string) (string, bool) { v, ok := environ[name]; return v, ok }
	conf, err := config.Load(file, o)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestTheExampleForKubernetesFitsTogether(t *testing.T) {
	c, d, s := objects(t)
	p := d.Spec.Template.Spec
	in := p.Containers[0]
	conf := configured(t, c)
	_, port, err := net.SplitHostPort(conf.HTTP.Listen)
	if err != nil || len(in.Ports) != 1 || port != "8900" || in.Ports[0].ContainerPort != 8900 || !slices.Contains(in.Args, conf.HTTP.Listen) {
		t.Errorf("toolman listens at %s, the container says %v and %q", conf.HTTP.Listen, in.Ports, in.Args)
	}
	if len(conf.HTTP.Tokens) == 0 || conf.HTTP.Unauthenticated {
		t.Error("anybody can connect")
	}
	labels := d.Spec.Template.Metadata.Labels["app"]
	if labels == "" || d.Spec.Selector.MatchLabels["app"] != labels || s.Spec.Selector["app"] != labels {
		t.Error("the labels and selectors differ")
	}
	for _, name := range []string{s.Spec.Ports[0].TargetPort, in.StartupProbe.HTTPGet.Port, in.LivenessProbe.HTTPGet.Port, in.ReadinessProbe.HTTPGet.Port} {
		if name != in.Ports[0].Name {
			t.Errorf("the port %s is none of the container's", name)
		}
	}
	if s.Spec.SessionAffinity != "ClientIP" {
		t.Error("requests of a session may go to several pods")
	}
	if grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second; grace < conf.HTTP.DrainNotice+conf.HTTP.Drain+5*time.Second {
		t.Errorf("the pod is killed after %v, before toolman has drained", grace)
	}
	if notice := time.Duration(in.ReadinessProbe.PeriodSeconds*in.ReadinessProbe.FailureThreshold) * time.Second; conf.HTTP.DrainNotice <= notice {
		t.Errorf("clients are let in for %v, and it takes %v to see that they should not come", conf.HTTP.DrainNotice, notice)
	}
}

// The ConfigMap has what applies to one agent and task, and starting it needs no flags for that.
func TestTheConfigMapIsResolved(t *testing.T) {
	c, _, _ := objects(t)
	text, err := resolve.File("deploy/tools.toml", config.Options{Agent: "claude", Task: "take notes"}, "toml")
	if err != nil || c.Data["tools.toml"] != string(text) {
		t.Errorf("the ConfigMap has\n%s\nwant\n%s%v", c.Data["tools.toml"], text, err)
	}
	conf := configured(t, c)
	p, err := conf.Rules.For(conf.Agent)
	if err != nil || conf.Agent != "claude" || len(conf.Servers) != 1 {
		t.Fatalf("it is for the agent %q, with %d servers, %v", conf.Agent, len(conf.Servers), err)
	}
	for i, v := range p.Judge("mem", []policy.Item{{Name: "read_graph"}, {Name: "create_entities"}, {Name: "delete_entities"}}) {
		if v.Allowed != (i < 2) {
			t.Errorf("got %v", v)
		}
	}
}

func TestTheExampleForKubernetesMountsWhatToolmanReadsAndWrites(t *testing.T) {
	c, d, _ := objects(t)
	p := d.Spec.Template.Spec
	volumes := map[string]string{}
	for _, v := range p.Volumes {
		switch {
		case v.ConfigMap != nil && v.ConfigMap.Name == c.Metadata.Name:
			volumes[v.Name] = "config"
		case v.EmptyDir != nil:
			volumes[v.Name] = "empty"
		}
	}
	mounts := map[string]string{}
	for _, m := range p.Containers[0].VolumeMounts {
		mounts[m.MountPath] = volumes[m.Name]
	}
	args := p.Containers[0].Args
	file := args[slices.Index(args, "--config")+1]
	if mounts[path.Dir(file)] != "config" || c.Data[path.Base(file)] == "" {
		t.Errorf("there is no %s", file)
	}
	home := regexp.MustCompile(`(?m)^ENV HOME=(.+)$`).FindStringSubmatch(containerfile(t))
	if home == nil || mounts[home[1]] != "empty" || mounts["/tmp"] != "empty" {
		t.Errorf("HOME %q and /tmp cannot be written to", home)
	}
}

func TestTheExampleForKubernetesGivesNoRightsAway(t *testing.T) {
	_, d, _ := objects(t)
	p := d.Spec.Template.Spec
	in := p.Containers[0]
	sc := p.SecurityContext
	if !sc.RunAsNonRoot || sc.RunAsUser == 0 || sc.RunAsGroup == 0 || sc.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("pod: %+v", sc)
	}
	if !in.SecurityContext.ReadOnlyRootFilesystem || in.SecurityContext.AllowPrivilegeEscalation == nil || *in.SecurityContext.AllowPrivilegeEscalation ||
		!slices.Equal(in.SecurityContext.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("container: %+v", in.SecurityContext)
	}
	if p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Error("servers get a token of the cluster")
	}
	if in.Resources.Limits["memory"] == "" || in.Resources.Requests["memory"] == "" {
		t.Errorf("resources: %+v", in.Resources)
	}
	if user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(containerfile(t)); user == nil || user[1] != "10001" || sc.RunAsUser != 10001 {
		t.Errorf("the image is for user %q, the pod runs as %d", user, sc.RunAsUser)
	}
}

type readyGateway struct{ started chan struct{} }

func (g readyGateway) Started() <-chan struct{}     { return g.started }
func (g readyGateway) Upstreams() []upstream.Status { return nil }
func (g readyGateway) Sessions() int                { return 0 }

// The probes have to ask for what there is: liveness for what is true while servers start,
// readiness for what is not.
func TestTheProbesAskForWhatToolmanServes(t *testing.T) {
	_, d, _ := objects(t)
	in := d.Spec.Template.Spec.Containers[0]
	starting := readyGateway{make(chan struct{})}
	mux := ops.Probes(ops.NewHealth(starting))
	for name, tt := range map[string]struct {
		path string
		want int
	}{
		"startup":   {in.StartupProbe.HTTPGet.Path, 200},
		"liveness":  {in.LivenessProbe.HTTPGet.Path, 200},
		"readiness": {in.ReadinessProbe.HTTPGet.Path, 503},
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", tt.path, nil))
		if w.Code != tt.want {
			t.Errorf("%s: GET %s is %d while servers start, want %d", name, tt.path, w.Code, tt.want)
		}
	}
}

func containerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheContainerfileBuildsToolman(t *testing.T) {
	text := containerfile(t)
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindStringSubmatch(text)
	if build == nil || !strings.Contains(text, "COPY --from=build /out/toolman ") {
		t.Fatal("the Containerfile does not build toolman as this test knows it")
	}
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(build[1], "/out/", out+"/", 1))
	cmd.Dir = "../.." // the build's context
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.CommandContext(t.Context(), filepath.Join(out, "toolman"), "version").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	if runtime.GOOS == "linux" {
		f, err := elf.Open(filepath.Join(out, "toolman"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if libraries, _ := f.ImportedLibraries(); len(libraries) > 0 {
			t.Errorf("it needs %q, which a small base does not have", libraries)
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if !strings.Contains(text, "FROM golang:"+string(wanted[1])+" AS build") {
		t.Errorf("go.mod wants go %s, the Containerfile has another", wanted[1])
	}
}

// What the image runs by itself is what the pod tells it to.
func TestTheImageAndThePodStartTheSame(t *testing.T) {
	_, d, _ := objects(t)
	text := containerfile(t)
	var args []string
	found := regexp.MustCompile(`(?m)^CMD (\[.*\])$`).FindStringSubmatch(text)
	if found == nil || yaml.Unmarshal([]byte(found[1]), &args) != nil || !slices.Equal(args, d.Spec.Template.Spec.Containers[0].Args) {
		t.Errorf("the image runs %q, the pod %q", args, d.Spec.Template.Spec.Containers[0].Args)
	}
	if !strings.Contains(text, `ENTRYPOINT ["toolman"]`) || !strings.Contains(text, "STOPSIGNAL SIGTERM") || !strings.Contains(text, "EXPOSE 8900") {
		t.Error("the image has another entry point, port or signal")
	}
	f := &engine.Flags{}
	root := newRootCommand(f)
	addCommands(root, f)
	serve, rest, err := root.Find(args)
	if err != nil || serve == root {
		t.Fatalf("toolman has no command for %q: %v", args, err)
	}
	if err := serve.ParseFlags(rest); err != nil {
		t.Errorf("toolman does not understand %q: %v", args, err)
	}
}
