package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/config"
	"toolman/fixtures/valkey"
	"toolman/router/httpd/cluster/engine"
)

const clusterFolder = "deploy/cluster"

// What deploy/cluster/kubernetes.yaml has besides the kinds of deploy/kubernetes.yaml.
type (
	budgetObject struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			MaxUnavailable int `yaml:"maxUnavailable"`
			Selector       selector
		}
	}
	networkPolicy struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   meta
		Spec       struct {
			PodSelector selector `yaml:"podSelector"`
			PolicyTypes []string `yaml:"policyTypes"`
			Ingress     []ingress
		}
	}
	ingress struct {
		From []struct {
			PodSelector selector `yaml:"podSelector"`
		}
		Ports []struct{ Port string }
	}
)

// A cluster is deploy/cluster/kubernetes.yaml.
type clusterObjects struct {
	config, engineConfig   configMap
	toolman, engine        deployment
	budget                 budgetObject
	service, engineService service
	policy, enginePolicy   networkPolicy
}

func readCluster(t *testing.T) (c clusterObjects) {
	t.Helper()
	decodeYAML(t, clusterFolder+"/kubernetes.yaml", &c.config, &c.toolman, &c.budget, &c.service, &c.policy, &c.enginePolicy, &c.engineConfig, &c.engine, &c.engineService)
	got := fmt.Sprint(c.config.Kind, c.toolman.Kind, c.budget.Kind, c.service.Kind, c.policy.Kind, c.enginePolicy.Kind, c.engineConfig.Kind, c.engine.Kind, c.engineService.Kind)
	if got != "ConfigMapDeploymentPodDisruptionBudgetServiceNetworkPolicyNetworkPolicyConfigMapDeploymentService" {
		t.Errorf("the objects are %s", got)
	}
	return c
}

// clusterConfig is a configuration as its container reads it, and the files of /run/secrets that it
// refers to.
func clusterConfig(t *testing.T, text string, environ map[string]string) (c *config.Config, files []string) {
	t.Helper()
	secrets := t.TempDir()
	for _, m := range regexp.MustCompile(`/run/secrets/([a-z.-]+)`).FindAllStringSubmatch(text, -1) {
		files = append(files, m[1])
		if err := os.WriteFile(filepath.Join(secrets, m[1]), []byte(m[1]+"-is-a-secret-of-more-than-32-bytes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c = configuredIn(t, strings.ReplaceAll(text, "/run/secrets", filepath.ToSlash(secrets)), environ)
	if c.Cluster == nil {
		t.Fatal("there is no cluster")
	}
	if len(c.HTTP.Tokens) == 0 || c.HTTP.Unauthenticated {
		t.Error("anybody can connect")
	}
	for _, s := range c.Servers {
		if !s.Stateless {
			t.Errorf("server %s is not for any replica", s.Name)
		}
	}
	return c, files
}

// portOf is the port of an address.
func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Error(err)
	}
	return port
}

// mounted are the files that a pod has at /run/secrets.
func mounted(t *testing.T, p pod) (files []string) {
	t.Helper()
	for _, v := range p.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, m := range p.Containers[0].VolumeMounts {
			if m.Name == v.Name && (m.MountPath != "/run/secrets" || !m.ReadOnly) {
				t.Errorf("the secrets are mounted at %s", m.MountPath)
			}
		}
		if v.Projected.DefaultMode != 0o440 || p.SecurityContext.FSGroup == 0 {
			t.Errorf("the secrets have the mode %o and the group %d", v.Projected.DefaultMode, p.SecurityContext.FSGroup)
		}
		for _, s := range v.Projected.Sources {
			for _, item := range s.Secret.Items {
				files = append(files, item.Path)
			}
		}
	}
	return files
}

func TestTheClusterForKubernetesFitsTogether(t *testing.T) {
	k := readCluster(t)
	p := k.toolman.Spec.Template.Spec
	in := p.Containers[0]
	conf, files := clusterConfig(t, k.config.Data["tools.toml"], map[string]string{"POD_IP": "10.1.2.3"})
	if got, want := mounted(t, p), slices.Compact(slices.Sorted(slices.Values(files))); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("the configuration refers to %q, the pod has %q", want, got)
	}
	if len(in.Env) != 1 || in.Env[0].Name != "POD_IP" || in.Env[0].ValueFrom.FieldRef.FieldPath != "status.podIP" || conf.Cluster.Advertise != "10.1.2.3:8901" {
		t.Errorf("the pod has %+v, and others find it at %s", in.Env, conf.Cluster.Advertise)
	}
	ports := map[string]int{"http": 8900, "cluster": 8901}
	for _, p := range in.Ports {
		if ports[p.Name] != p.ContainerPort {
			t.Errorf("port %s is %d", p.Name, p.ContainerPort)
		}
	}
	if len(in.Ports) != 2 || portOf(t, conf.HTTP.Listen) != "8900" || portOf(t, conf.Cluster.Listen) != "8901" || !slices.Contains(in.Args, conf.HTTP.Listen) {
		t.Errorf("toolman listens at %s and %s, the container says %v and %q", conf.HTTP.Listen, conf.Cluster.Listen, in.Ports, in.Args)
	}
	engine, err := url.Parse(conf.Cluster.Engine)
	if err != nil || engine.Scheme != "valkeys" || engine.Hostname() != k.engineService.Metadata.Name || engine.Port() != fmt.Sprint(k.engineService.Spec.Ports[0].Port) ||
		filepath.Base(conf.Cluster.EngineCA) != "valkey-ca.crt" {
		t.Errorf("the engine is %s, with the certificate %s (%v)", engine.Redacted(), conf.Cluster.EngineCA, err)
	}
	if grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second; grace < conf.HTTP.DrainNotice+conf.HTTP.Drain+5*time.Second {
		t.Errorf("the pod is killed after %v, before toolman has drained", grace)
	}
	if notice := time.Duration(in.ReadinessProbe.PeriodSeconds*in.ReadinessProbe.FailureThreshold) * time.Second; conf.HTTP.DrainNotice <= notice {
		t.Errorf("clients are let in for %v, and it takes %v to see that they should not come", conf.HTTP.DrainNotice, notice)
	}
}

func TestTheClusterForKubernetesStaysUp(t *testing.T) {
	k := readCluster(t)
	spec := k.toolman.Spec
	if u := spec.Strategy; spec.Replicas != 3 || u.Type != "RollingUpdate" || u.RollingUpdate.MaxUnavailable != 0 || u.RollingUpdate.MaxSurge == 0 {
		t.Errorf("%d replicas, updated by %+v", spec.Replicas, u)
	}
	if k.budget.Spec.MaxUnavailable != 1 || k.service.Spec.SessionAffinity != "" {
		t.Errorf("%d may be away, and the affinity is %q", k.budget.Spec.MaxUnavailable, k.service.Spec.SessionAffinity)
	}
	app := map[string]string{"app": "toolman"}
	for what, labels := range map[string]map[string]string{
		"pods": spec.Template.Metadata.Labels, "selector": spec.Selector.MatchLabels, "budget": k.budget.Spec.Selector.MatchLabels, "service": k.service.Spec.Selector,
		"spread": spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if !maps.Equal(labels, app) {
			t.Errorf("%s: %v", what, labels)
		}
	}
	_, single, _ := objects(t)
	in, like := spec.Template.Spec.Containers[0], single.Spec.Template.Spec.Containers[0]
	if !reflect.DeepEqual([]any{in.StartupProbe, in.LivenessProbe, in.ReadinessProbe, in.Args, in.SecurityContext}, []any{like.StartupProbe, like.LivenessProbe, like.ReadinessProbe, like.Args, like.SecurityContext}) {
		t.Error("the container is not as that of the single pod")
	}
	if !reflect.DeepEqual(spec.Template.Spec.SecurityContext, single.Spec.Template.Spec.SecurityContext) || *spec.Template.Spec.AutomountServiceAccountToken {
		t.Error("the pod has other rights than the single pod")
	}
}

func TestOnlyReplicasReachTheClusterAndItsEngine(t *testing.T) {
	k := readCluster(t)
	engine := k.engine.Spec.Template
	if k.policy.Spec.PodSelector.MatchLabels["app"] != "toolman" || !slices.Equal(k.policy.Spec.PolicyTypes, []string{"Ingress"}) {
		t.Errorf("the policy is for %+v", k.policy.Spec)
	}
	open, inner := k.policy.Spec.Ingress[0], k.policy.Spec.Ingress[1]
	if len(k.policy.Spec.Ingress) != 2 || len(open.From) > 0 || len(open.Ports) != 1 || open.Ports[0].Port != "http" {
		t.Errorf("everybody reaches %+v", open)
	}
	if len(inner.From) != 1 || inner.From[0].PodSelector.MatchLabels["app"] != "toolman" || len(inner.Ports) != 1 || inner.Ports[0].Port != "cluster" {
		t.Errorf("the inner port is for %+v", inner)
	}
	in := k.enginePolicy.Spec.Ingress
	if !maps.Equal(k.enginePolicy.Spec.PodSelector.MatchLabels, engine.Metadata.Labels) || len(in) != 1 || len(in[0].From) != 1 || in[0].From[0].PodSelector.MatchLabels["app"] != "toolman" {
		t.Errorf("the engine is for %+v", in)
	}
	for _, name := range []string{engine.Spec.Containers[0].ReadinessProbe.TCPSocket.Port, in[0].Ports[0].Port, k.engineService.Spec.Ports[0].TargetPort} {
		if name != engine.Spec.Containers[0].Ports[0].Name {
			t.Errorf("the engine has no port %s", name)
		}
	}
	for _, d := range []deployment{k.engine, k.toolman} {
		sc := d.Spec.Template.Spec.Containers[0].SecurityContext
		if !sc.ReadOnlyRootFilesystem || *sc.AllowPrivilegeEscalation || !slices.Equal(sc.Capabilities.Drop, []string{"ALL"}) || !d.Spec.Template.Spec.SecurityContext.RunAsNonRoot {
			t.Errorf("%s: %+v", d.Metadata.Name, sc)
		}
	}
	files := mounted(t, engine.Spec)
	args := strings.Join(engine.Spec.Containers[0].Args, " ")
	if !slices.Contains(files, "valkey") || strings.Count(args, "/run/secrets/tls.") != 2 || !strings.Contains(args, "--port 0 --tls-port 6379 ") {
		t.Errorf("the engine has %q and runs %s", files, args)
	}
	for name, file := range map[string]string{"users.acl": "valkey.acl", "start.sh": "valkey.sh"} {
		text, err := os.ReadFile(filepath.Join(clusterFolder, file))
		if err != nil || k.engineConfig.Data[name] != string(text) {
			t.Errorf("%s is not %s (%v):\n%s", name, file, err, k.engineConfig.Data[name])
		}
	}
}

// The rights in the documentation are those of the examples.
func TestTheEnginesUserIsDocumented(t *testing.T) {
	acl, err := os.ReadFile(clusterFolder + "/valkey.acl")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := page("cluster")
	_, rule, _ := strings.Cut(strings.TrimSpace(string(acl)), "\n")
	if rule = strings.Replace(rule, "#HASH", ">PASSWORD", 1); !strings.Contains(strings.Join(strings.Fields(text), " "), rule) {
		t.Errorf("the page has no %s", rule)
	}
}

// What of compose files deploy/cluster/compose.yaml uses.
type composeFile struct {
	Name     string
	Services map[string]struct {
		Build           struct{ Context, Dockerfile string }
		Image           string
		Command         []string
		Deploy          struct{ Replicas int }
		Restart         string
		ReadOnly        bool `yaml:"read_only"`
		Tmpfs           []string
		CapDrop         []string `yaml:"cap_drop"`
		SecurityOpt     []string `yaml:"security_opt"`
		StopGracePeriod string   `yaml:"stop_grace_period"`
		User            string
		Healthcheck     struct {
			Test        []string
			Interval    string
			StartPeriod string `yaml:"start_period"`
		}
		Configs  []struct{ Source, Target string }
		Secrets  []string
		Networks []string
		Ports    []string
	}
	Networks         map[string]struct{ Internal bool }
	Configs, Secrets map[string]struct{ File string }
}

func TestTheComposeFileFitsTogether(t *testing.T) {
	var c composeFile
	decodeYAML(t, clusterFolder+"/compose.yaml", &c)
	text, err := os.ReadFile(filepath.Join(clusterFolder, "tools.toml"))
	if err != nil {
		t.Fatal(err)
	}
	conf, files := clusterConfig(t, string(text), map[string]string{"HOSTNAME": "0123456789ab"})
	replica, engine, proxy := c.Services["toolman"], c.Services["valkey"], c.Services["proxy"]
	if replica.Deploy.Replicas != 3 || conf.Cluster.Advertise != "0123456789ab:8901" || portOf(t, conf.Cluster.Listen) != "8901" {
		t.Errorf("%d replicas, each at %s", replica.Deploy.Replicas, conf.Cluster.Advertise)
	}
	u, err := url.Parse(conf.Cluster.Engine)
	if err != nil || c.Services[u.Hostname()].Image != engine.Image || !conf.Cluster.EnginePlaintext {
		t.Errorf("the engine is %s (%v)", u.Redacted(), err)
	}
	if !slices.Equal(engine.Networks, []string{"engine"}) || !c.Networks["engine"].Internal || !slices.Contains(replica.Networks, "engine") || slices.Contains(proxy.Networks, "engine") || len(engine.Ports) > 0 {
		t.Error("others reach the engine")
	}
	if want := slices.Compact(slices.Sorted(slices.Values(files))); !slices.Equal(slices.Sorted(slices.Values(replica.Secrets)), want) || !slices.Contains(engine.Secrets, "valkey") {
		t.Errorf("the configuration refers to %q, a replica has %q", want, replica.Secrets)
	}
	for name, s := range c.Services {
		for _, used := range s.Configs {
			if _, err := os.Stat(filepath.Join(clusterFolder, c.Configs[used.Source].File)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, used := range s.Secrets {
			if c.Secrets[used].File != "./secrets/"+used {
				t.Errorf("%s: there is no secret %s", name, used)
			}
		}
	}
	grace, err := time.ParseDuration(replica.StopGracePeriod)
	if err != nil || grace < conf.HTTP.DrainNotice+conf.HTTP.Drain+5*time.Second {
		t.Errorf("a replica is killed after %v, before it has drained (%v)", grace, err)
	}
	if _, err := os.Stat(filepath.Join(clusterFolder, replica.Build.Context, replica.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	balancer, err := os.ReadFile(filepath.Join(clusterFolder, c.Configs["proxy"].File))
	if err != nil || !strings.Contains(string(balancer), "dynamic a toolman "+portOf(t, conf.HTTP.Listen)) || !strings.Contains(string(balancer), "lb_policy round_robin") || !strings.Contains(string(balancer), "request_buffers") ||
		!slices.Equal(proxy.Ports, []string{"127.0.0.1:8900:8900"}) || !slices.Contains(proxy.Networks, replica.Networks[0]) {
		t.Errorf("the proxy does not reach the replicas (%v)", err)
	}
}

// A replica can do all that it does with the rights of the example, and nothing to other keys.
func TestTheRightsOfTheEnginesUserAreEnough(t *testing.T) {
	const password = "the password"
	acl, err := os.ReadFile(clusterFolder + "/valkey.acl")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.acl")
	text := strings.Replace(string(acl), "#HASH", fmt.Sprintf("#%x", sha256.Sum256([]byte(password))), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := valkey.Start(t, "--aclfile", file)
	open := func(name, replica string) *engine.Engine {
		e, err := engine.Open(engine.Options{URL: "valkey://toolman:" + password + "@" + s.Addr, Name: name, Secrets: [][]byte{[]byte(strings.Repeat("s", 32))}, Replica: replica})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e
	}
	ctx := t.Context()
	if _, err := open("other", "aaaaaaaa").Join(ctx); err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("another cluster: %v", err)
	}
	e := open("toolman", "bbbbbbbb")
	for _, do := range []struct {
		name string
		f    func() error
	}{
		{"Join", func() error { _, err := e.Join(ctx); return err }},
		{"Beat", func() error { _, _, err := e.Beat(ctx, engine.Lease{Address: "a:1"}); return err }},
		{"Claim", func() error { _, _, err := e.Claim(ctx, "u", "", time.Minute); return err }},
		{"Owner", func() error { _, err := e.Owner(ctx, "u"); return err }},
		{"Put", func() error { _, err := e.Put(ctx, "u", "k", []byte("r"), time.Minute); return err }},
		{"Get", func() error { _, err := e.Get(ctx, "k"); return err }},
		{"Renew", func() error { _, err := e.Renew(ctx, []string{"u"}, []string{"k"}, time.Minute); return err }},
		{"Yield", func() error { return e.Yield(ctx, "u", "cccccccc", time.Minute) }},
		{"Claim of a dead one", func() error { _, _, err := e.Claim(ctx, "u", "cccccccc", time.Minute); return err }},
		{"Release", func() error { return e.Release(ctx, "u") }},
		{"Forget", func() error { return e.Forget(ctx, "u", "k", true) }},
		{"SetDocument", func() error { _, err := e.SetDocument(ctx, "d", []byte("t"), 0); return err }},
		{"Document", func() error { _, _, err := e.Document(ctx, "d"); return err }},
		{"Take", func() error { _, err := e.Take(ctx, "b", 1, 1, 1); return err }},
		{"Policy", func() error {
			policy, err := e.Policy(ctx)
			if err == nil && policy != "noeviction" {
				err = fmt.Errorf("the policy is %q", policy)
			}
			return err
		}},
		{"Leave", func() error { return e.Leave(ctx) }},
	} {
		if err := do.f(); err != nil {
			t.Errorf("%s: %v", do.name, err)
		}
	}
}
