import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { Json } from '../../../../model/json.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/proposed-writes.ts';

// What Go's ssh package reads: a PEM block of one of these.
const privateKey = /^-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----\r?\n[^]+\r?\n-----END [A-Z ]*PRIVATE KEY-----/m;

/** What the gateway refuses of a runbook configuration, or loses. */
export function checkRunbookConfiguration(draft: ProposedWrite): readonly Diagnostic[] {
  return [...(draft.creates ? [] : [lostBranch(draft), ...checkHost(draft)]), ...checkPrivateKey(draft)];
}

/** Hosts are the same in any case, but not to the gateway: it would look for another repository, and find none. */
function checkHost(draft: ProposedWrite): readonly Diagnostic[] {
  const [wished, stored] = [hostOf(draft.spec['git_url']), hostOf(draft.stored['git_url'])];
  if (wished === stored || wished.toLowerCase() !== stored.toLowerCase()) return [];
  const message = `the gateway has the repository with the host ${stored}, and takes ${wished} for another one`;
  return [
    diagnosticAt(draft, '/git_url', {
      code: 'hoop/git-host',
      message,
      hint: `write ${stored}; or delete it there, and it is created anew`,
    }),
  ];
}

function hostOf(url: Json | undefined): string {
  if (typeof url !== 'string') return '';
  return /^(?:[\w.-]+@([\w.-]+):|[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+))/i.exec(url)?.slice(1).join('') ?? '';
}

function lostBranch(draft: ProposedWrite): Diagnostic {
  return diagnosticAt(draft, '/git_url', {
    code: 'hoop/git-branch',
    severity: 'warning',
    message: 'a git branch that somebody set for this repository is lost with the update',
    hint: 'the gateway neither shows nor takes it here; it then reads the branch of its own search, then master, then main',
  });
}

/** The gateway parses the key when it is written, and refuses one that is none. */
function checkPrivateKey(draft: ProposedWrite): readonly Diagnostic[] {
  const key = draft.resource.secrets['/ssh_key'];
  if (key?.state !== 'value' || key.source === 'live') return [];
  const value = key.reveal();
  if (value === '' || privateKey.test(value)) return [];
  return [
    diagnosticAt(draft, '/ssh_key', {
      code: 'hoop/ssh-key',
      message: `what ${key.source} holds is no private key in PEM form, and the gateway refuses it`,
      hint: 'it begins with -----BEGIN OPENSSH PRIVATE KEY----- (or RSA, EC) on a line of its own and ends likewise',
    }),
  ];
}
