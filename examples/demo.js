// The main job on this machine: a gateway of its own, the manifests of examples/acme, plan, apply, drift, apply.
// Run it with `npm run demo`; it works in a temporary folder and leaves nothing behind.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, onStage, say, title } from './stage.js';

const acme = fileURLToPath(new URL('acme', import.meta.url));

/** The fake secrets that the example's manifests name. */
const secrets = Object.fromEntries(
  readFileSync(join(acme, 'secrets.env.example'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value.replaceAll(/^(['"])(.*)\1$/g, '$2')]];
    }),
);

/** Runs one command against the gateway and shows it, at most `lines` of what it prints. */
function ostiary({ url, key }, args, { expect, lines = 40 }) {
  say(`$ ostiary ${args.join(' ')}`);
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args, '--target', 'production', '--url', url], {
    cwd: acme,
    encoding: 'utf8',
    env: { ...process.env, ...secrets, OSTIARY_TOKEN: key },
  });
  const text = stdout.trimEnd().split('\n');
  const tail = 4;
  const shown = text.length <= lines ? text : [...text.slice(0, lines - tail), `    … ${text.length - lines} lines more …`, ...text.slice(-tail)];
  for (const line of shown.flatMap(folded)) say(`  ${line}`);
  if (status !== expect) throw new Error(`ostiary ${args[0]} ended with ${status}, not ${expect}\n${stderr}`);
  say(`  (exit ${status}, ${((Date.now() - started) / 1000).toFixed(1)} s)\n`);
  return stdout;
}

/** Folds a line to the width of the terminal; the command itself does not know the width, because its output is read here. */
function folded(line) {
  const width = (process.stdout.columns || Infinity) - 2;
  const indent = ' '.repeat(/^ */.exec(line)[0].length + 2);
  const lines = [line];
  for (let last = line; last.length > width; last = lines.at(-1)) {
    const space = last.lastIndexOf(' ', width);
    const end = space > indent.length ? space : width;
    lines.splice(-1, 1, last.slice(0, end).trimEnd(), `${indent}${last.slice(end).trimStart()}`);
  }
  return lines;
}

/** Changes a connection outside Ostiary: everybody sees it, no review is required any more, and a session may last a day. */
async function changeByHand({ url, key }, name) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const found = await (await fetch(`${url}/connections/${name}`, { headers })).json();
  const body = JSON.stringify({ ...found, access_groups: [], reviewers: [], access_max_duration: 86400 });
  const answer = await fetch(`${url}/connections/${name}`, { method: 'PUT', headers, body });
  if (!answer.ok) throw new Error(`PUT /connections/${name}: ${answer.status} ${await answer.text()}`);
  say(`PUT /connections/${name}`);
  say(`  access_groups        [${found.access_groups.join(', ')}] \u2192 []`);
  say(`  reviewers            [${found.reviewers.join(', ')}] \u2192 []`);
  say(`  access_max_duration  ${found.access_max_duration} \u2192 86400`);
}

function mustSay(text, wanted) {
  if (!text.includes(wanted)) throw new Error(`expected "${wanted}" in:\n${text}`);
}

async function play(gateway) {
  title('Plan: a fresh gateway, the manifests of examples/acme');
  ostiary(gateway, ['plan'], { expect: 0 });
  title('Apply');
  ostiary(gateway, ['apply', '--yes'], { expect: 0, lines: 16 });
  title('Plan again');
  mustSay(ostiary(gateway, ['plan', '--detailed-exitcode'], { expect: 0 }), 'No changes.');
  title('A person changes the gateway outside Ostiary');
  await changeByHand(gateway, 'payments-card-vault');
  title('Plan shows exactly that');
  const drift = ostiary(gateway, ['plan', '--detailed-exitcode'], { expect: 2 });
  mustSay(drift, 'Connection/payments-card-vault');
  mustSay(drift, '1 to update');
  title('Apply puts it back');
  ostiary(gateway, ['apply', '--yes'], { expect: 0 });
  mustSay(ostiary(gateway, ['plan', '--detailed-exitcode'], { expect: 0 }), 'No changes.');
}

await onStage(play);
say('Done: the gateway matches the manifests.');
