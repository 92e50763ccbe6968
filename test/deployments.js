// Validates deploy/kubernetes against the published schemas of Kubernetes, and deploy/compose.yaml with the reference implementation of Compose:
// node test/deployments.js PATH-OF-KUBERNETES-VALIDATE
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a validator and prints what it found. */
function validate(name, program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  process.stdout.write(status === 0 ? `${name}: no findings\n` : `${name}:\n${stdout}${stderr}`);
  if (status !== 0) process.exitCode = 1;
}

const manifests = readdirSync('deploy/kubernetes').map((name) => join('deploy/kubernetes', name));
validate('kubernetes-validate', process.argv[2] ?? 'kubernetes-validate', ['--strict', ...manifests]);

const home = mkdtempSync(join(tmpdir(), 'ostiary-deployments-'));
try {
  const env = { ...process.env, GOBIN: home, GOFLAGS: '' };
  try {
    execFileSync('go', ['install', 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2'], { stdio: 'ignore', env });
  } catch {
    process.stdout.write('compose-go cannot be installed on this machine: deploy/compose.yaml is not checked with it\n');
  }
  if (readdirSync(home).length > 0) validate('compose-go', join(home, 'cmd'), ['deploy/compose.yaml']);
} finally {
  rmSync(home, { recursive: true, force: true });
}
