// Package controlplane runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler on this machine.
package controlplane

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const token = "token-of-this-test"

// Folder is where test/cluster/run leaves the binaries.
func Folder() string { return os.Getenv("MUSTER_CLUSTER_BIN") }

// Missing names the binaries that are not in the folder.
func Missing() []string {
	var missing []string
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if _, err := os.Stat(filepath.Join(Folder(), name)); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// Cluster is a running control plane. It has no nodes but those that are made in it, and no kubelet.
type Cluster struct {
	Client     kubernetes.Interface
	kubeconfig string
	folder     string
}

// Start runs a control plane until the context ends. Its files and logs are left in the folder.
func Start(ctx context.Context, folder string) (*Cluster, error) {
	cluster := &Cluster{folder: folder, kubeconfig: filepath.Join(folder, "kubeconfig")}
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	if err := cluster.writeFiles(ports[2]); err != nil {
		return nil, err
	}
	etcd, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	credentials := []string{"--kubeconfig=" + cluster.kubeconfig, "--authentication-kubeconfig=" + cluster.kubeconfig,
		"--authorization-kubeconfig=" + cluster.kubeconfig, "--bind-address=127.0.0.1", "--leader-elect=false"}
	programs := [][]string{
		{"etcd", "--data-dir=" + filepath.Join(folder, "data"), "--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer, "--unsafe-no-fsync"},
		{"kube-apiserver", "--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", ports[2]), "--cert-dir=" + filepath.Join(folder, "certificates"),
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + filepath.Join(folder, "account.key"),
			"--service-account-signing-key-file=" + filepath.Join(folder, "account.key"), "--token-auth-file=" + filepath.Join(folder, "tokens"),
			"--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
			// Nothing here removes the taint not-ready of a new node, or a finalizer of a volume.
			"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection"},
		append([]string{"kube-controller-manager", fmt.Sprintf("--secure-port=%d", ports[3]), "--cert-dir=" + filepath.Join(folder, "controllers"),
			"--controllers=disruption-controller,persistentvolume-binder-controller"}, credentials...),
		append([]string{"kube-scheduler", fmt.Sprintf("--secure-port=%d", ports[4]), "--cert-dir=" + filepath.Join(folder, "scheduler")}, credentials...),
	}
	for i, program := range programs {
		if err := cluster.run(ctx, program); err != nil {
			return nil, err
		}
		if i == 1 {
			if err := cluster.connect(ctx, ports[2]); err != nil {
				return nil, err
			}
		}
	}
	return cluster, nil
}

// Kubectl runs kubectl against this cluster and gives what it prints. The error carries its messages.
func (cluster *Cluster) Kubectl(ctx context.Context, input []byte, arguments ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig=" + cluster.kubeconfig}, arguments...)...)
	command.Stdin = bytes.NewReader(input)
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	if err := command.Run(); err != nil {
		return output.Bytes(), fmt.Errorf("kubectl %v: %w: %s", arguments, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return output.Bytes(), nil
}

func (cluster *Cluster) run(ctx context.Context, program []string) error {
	log, err := os.Create(filepath.Join(cluster.folder, program[0]+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.CommandContext(ctx, filepath.Join(Folder(), program[0]), program[1:]...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return err
	}
	go func() { _ = command.Wait() }() // no zombies; why it ended is in its log
	return nil
}

func (cluster *Cluster) connect(ctx context.Context, port int) error {
	config := &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", port), BearerToken: token, QPS: 1000, Burst: 1000,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	cluster.Client = client
	for range 600 {
		if _, err = client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("kube-apiserver is not ready after a minute (its log is in %s): %w", cluster.folder, err)
}

func (cluster *Cluster) writeFiles(port int) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	account := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test","contexts":[{"name":"test","context":{"cluster":"test","user":"test"}}],
"clusters":[{"name":"test","cluster":{"server":"https://127.0.0.1:%d","insecure-skip-tls-verify":true}}],"users":[{"name":"test","user":{"token":%q}}]}`, port, token)
	return errors.Join(
		os.WriteFile(filepath.Join(cluster.folder, "account.key"), account, 0o600),
		os.WriteFile(filepath.Join(cluster.folder, "tokens"), []byte(token+",admin,admin,system:masters\n"), 0o600),
		os.WriteFile(cluster.kubeconfig, []byte(config), 0o600))
}

func freePorts(count int) ([]int, error) {
	ports := make([]int, count)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close() // only at the end, so that no port is given twice
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
