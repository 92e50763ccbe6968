// Builds the single executable of this platform: dist/executable/ostiary, with its checksum beside it. Needs Node 25.7 or newer,
// whose binary becomes a part of it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const folder = join('dist', 'executable');
const output = join(folder, process.platform === 'win32' ? 'ostiary.exe' : 'ostiary');
const database = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
const assets = Object.fromEntries(['pglite.wasm', 'initdb.wasm', 'pglite.data'].map((name) => [name, join(database, name)]));

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 25 || (major === 25 && minor < 7)) {
  process.stderr.write(`error: Node ${process.versions.node} cannot build executables: run this script with Node 25.7 or newer\n`);
  process.exitCode = 3;
} else {
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs');
  execFileSync(process.execPath, [rolldown, '--config', 'build/executable.config.js', '--logLevel', 'warn'], { stdio: 'inherit' });
  const draft = mkdtempSync(join(tmpdir(), 'ostiary-executable-'));
  try {
    const settings = join(draft, 'sea.json');
    const main = join(folder, 'ostiary.mjs');
    writeFileSync(
      settings,
      JSON.stringify({ main, mainFormat: 'module', output, disableExperimentalSEAWarning: true, execArgvExtension: 'none', assets }),
    );
    execFileSync(process.execPath, ['--build-sea', settings], { stdio: ['ignore', 'ignore', 'inherit'] });
    // An executable that was changed after it was signed does not start on macOS.
    if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', output], { stdio: 'inherit' });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  const digest = createHash('sha256').update(readFileSync(output)).digest('hex');
  writeFileSync(`${output}.sha256`, `${digest}  ${basename(output)}\n`);
  process.stdout.write(`${output}  ${digest}\n`);
}
