import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../e2e/project.ts';

/** A program that leaves a file when it runs, and the files it left. */
export type Witness = {
  /** Returns the path of a program that leaves a file with this name and fails. */
  readonly command: (name: string) => string;
  /** Returns the names of the programs that ran. */
  readonly ran: () => readonly string[];
};

/** Creates a witness that keeps its files in the folder. */
export function makeWitness(folder: string): Witness {
  const files = join(folder, 'ran');
  mkdirSync(files, { recursive: true });
  return {
    command(name) {
      const program = join(folder, `run-${name}`);
      writeFileSync(program, `#!/bin/sh\n: > "${join(files, name)}"\nexit 1\n`);
      chmodSync(program, 0o755);
      return program;
    },
    ran: () => readdirSync(files).toSorted(),
  };
}

/** All git configuration keys that name a program, from `git help --config` of 2.39 and the documentation up to 2.55. */
export const programKeys: readonly string[] = [
  ['core.alternateRefsCommand', 'core.askPass', 'core.editor', 'core.fsmonitor', 'core.gitProxy', 'core.pager', 'core.sshCommand'],
  ['alias.x', 'alias.rev-parse', 'alias.ls-tree', 'alias.fetch', 'browser.x.cmd', 'browser.x.path', 'difftool.x.cmd', 'difftool.x.path'],
  ['credential.helper', 'credential.https://localhost.helper', 'credential.http://127.0.0.1.helper'],
  ['diff.external', 'diff.x.command', 'diff.x.process', 'diff.x.textconv', 'filter.x.clean', 'filter.x.process', 'filter.x.smudge'],
  ['filter.a=b.clean', 'filter.a.b.clean', 'gc.recentObjectsHook', 'gpg.program', 'gpg.openpgp.program', 'gpg.ssh.program'],
  ['gpg.x509.program', 'gpg.ssh.defaultKeyCommand', 'guitool.x.cmd', 'help.browser', 'hook.x.command', 'imap.tunnel'],
  ['instaweb.browser', 'instaweb.httpd', 'interactive.diffFilter', 'man.x.cmd', 'man.x.path', 'merge.x.driver', 'mergetool.x.cmd'],
  ['mergetool.x.path', 'pager.log', 'pager.show', 'pager.config', 'remote.origin.receivepack', 'remote.origin.uploadpack'],
  ['sendemail.ccCmd', 'sendemail.headerCmd', 'sendemail.sendmailCmd', 'sendemail.smtpServer', 'sendemail.toCmd', 'sequence.editor'],
  ['sendemail.x.toCmd', 'submodule.x.update', 'tar.x.command', 'trailer.x.cmd', 'trailer.x.command', 'uploadpack.packObjectsHook'],
  ['web.browser'],
].flat();

/** Settings that make or let git run the program of another key. */
const triggers: readonly (readonly [string, string])[] = [
  ['protocol.allow', 'always'],
  ['protocol.ext.allow', 'always'],
  ['log.showSignature', 'true'],
  ['push.gpgSign', 'if-asked'],
  ['commit.gpgSign', 'true'],
  ['fetch.recurseSubmodules', 'true'],
  ['hook.x.event', 'reference-transaction'],
  ['hook.x.event', 'pre-push'],
  ['hook.x.enabled', 'true'],
  ['maintenance.auto', 'true'],
  ['gc.auto', '1'],
  ['help.autocorrect', 'immediate'],
  ['core.fsmonitorHookVersion', '1'],
  ['remote.origin.promisor', 'true'],
  ['safe.directory', '*'],
  ['safe.bareRepository', 'all'],
];

type HostileOptions = {
  /** Further settings. */
  readonly more?: readonly (readonly [string, string])[];
  /** The keys that name the witness; all by default. */
  readonly keys?: readonly string[];
};

/** Returns the text of a configuration that names the witness in every possible key, with the URL as origin. */
export function hostileConfig(witness: Witness, url: string, { more = [], keys = programKeys }: HostileOptions = {}): string {
  const named = keys.map((key): readonly [string, string] => {
    const command = witness.command(key.replaceAll('/', '_'));
    return [key, /^(?:alias\.|credential\.|submodule\.)/.test(key) ? `!${command}` : command];
  });
  return [...named, ...triggers, ['remote.origin.url', url] as const, ['remote.origin.fetch', '+refs/*:refs/*'] as const, ...more]
    .map(([key, value]) => line(key, value))
    .join('');
}

function line(key: string, value: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const below = first === last ? '' : ` "${key.slice(first + 1, last)}"`;
  return `[${key.slice(0, first)}${below}]\n\t${key.slice(last + 1)} = "${value.replaceAll(/["\\]/g, String.raw`\$&`)}"\n`;
}

const hooks = [
  'reference-transaction',
  'pre-push',
  'post-checkout',
  'post-index-change',
  'fsmonitor-watchman',
  'pre-auto-gc',
  'post-rewrite',
];

/** Writes a hook for every client-side event into a `.git` folder. */
export function plantHooks(gitFolder: string, witness: Witness, names: readonly string[] = hooks): void {
  writeFiles(gitFolder, Object.fromEntries(names.map((name) => [`hooks/${name}`, `#!/bin/sh\n${witness.command(`hook-${name}`)}\n`])));
  for (const name of names) chmodSync(join(gitFolder, 'hooks', name), 0o755);
}

/** Turns the folder into a bare repository made of plain files, as a pull request can. */
export function plantRepository(folder: string, witness: Witness, url: string): void {
  const more: readonly (readonly [string, string])[] = [
    ['core.repositoryFormatVersion', '1'],
    ['core.worktree', '.'],
    ['extensions.partialClone', 'origin'],
  ];
  writeFiles(folder, {
    HEAD: 'ref: refs/heads/main\n',
    config: hostileConfig(witness, url, { more }),
    'objects/k': '',
    'refs/k': '',
    // In case git reads attributes there: in the `.git` folder and in the worktree.
    'info/attributes': '* filter=x diff=x merge=x\n',
    '.gitattributes': '* filter=x diff=x merge=x\n',
  });
  plantHooks(folder, witness);
  if (!existsSync(join(folder, 'objects'))) throw new Error('nothing was planted');
}
