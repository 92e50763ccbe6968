import type { Diagnostic } from '../../../../model/diagnostic.ts';
import type { Json } from '../../../../model/json.ts';
import { diagnosticAt, type ProposedWrite } from '../../shared/rest.ts';

// The PEM blocks that Go's ssh package reads.
const privateKey = /^-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----\r?\n[^]+\r?\n-----END [A-Z ]*PRIVATE KEY-----/m;

/** Reports what the gateway rejects of a runbook configuration, or loses. */
export function checkRunbookConfiguration(write: ProposedWrite): readonly Diagnostic[] {
  return [...(write.creates ? [] : [lostBranch(write), ...checkHost(write)]), ...checkPrivateKey(write)];
}

/** Reports a host that differs only in case: the gateway would look for another repository, and find none. */
function checkHost(write: ProposedWrite): readonly Diagnostic[] {
  const [desired, stored] = [hostOf(write.spec['git_url']), hostOf(write.stored['git_url'])];
  if (desired === stored || desired.toLowerCase() !== stored.toLowerCase()) return [];
  const message = `the gateway has the repository with the host ${stored}, and takes ${desired} for another one`;
  return [
    diagnosticAt(write, '/git_url', {
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

function lostBranch(write: ProposedWrite): Diagnostic {
  return diagnosticAt(write, '/git_url', {
    code: 'hoop/git-branch',
    severity: 'warning',
    message: 'a git branch that somebody set for this repository is lost with the update',
    hint: 'the gateway neither shows nor takes it here; it then reads the branch of its own search, then master, then main',
  });
}

/** Reports a private key that the gateway would reject: it parses the key when it is written. */
function checkPrivateKey(write: ProposedWrite): readonly Diagnostic[] {
  const key = write.resource.secrets['/ssh_key'];
  if (key?.state !== 'value' || key.source === 'live') return [];
  const value = key.reveal();
  if (value === '' || privateKey.test(value)) return [];
  return [
    diagnosticAt(write, '/ssh_key', {
      code: 'hoop/ssh-key',
      message: `what ${key.source} holds is no private key in PEM form, and the gateway refuses it`,
      hint: 'it begins with -----BEGIN OPENSSH PRIVATE KEY----- (or RSA, EC) on a line of its own and ends likewise',
    }),
  ];
}
