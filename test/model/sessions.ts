import { textOf, type Fields } from './gateway-objects.ts';
import type { World } from './worlds.ts';

/** Two ways by which something passes a session: both matter only where sessions check one and not the other. */
export type Ways = readonly [boolean, boolean];

/** What sessions check, by each of two ways; `refuses`: there is none once a guardrail blocks something; `runs`: there are any. */
export type Checks = {
  readonly input: Ways;
  readonly output: Ways;
  readonly masking: Ways;
  readonly redaction: Ways;
  readonly refuses: boolean;
  readonly runs: boolean;
};

const yes: Ways = [true, true];
const no: Ways = [false, false];
const all: Checks = { input: yes, output: yes, masking: yes, redaction: yes, refuses: false, runs: true };

/** Subtypes, and types without one, that the document of the interface calls databases or commands. */
const documented = ['postgres', 'mysql', 'mssql', 'dynamodb', 'custom'];

function subtypeOf(spec: Fields): string {
  return textOf(spec['subtype']) === '' ? textOf(spec['type']) : textOf(spec['subtype']);
}

/** Returns what commands and runbooks check: everything. The public gateway runs none where it forwards a port or a shell. */
export function commandChecks(spec: Fields, { gateway }: World): Checks {
  return { ...all, runs: gateway === undefined || !['tcp', 'ssh'].includes(subtypeOf(spec)) };
}

/** Returns what native sessions check, as the public gateway does, or as far as the document of the interface says. */
export function nativeChecks(spec: Fields, world: World): Checks {
  const by = subtypeOf(spec);
  const maybe: Ways = [world.readsUnknown, world.readsUnknown];
  const { gateway } = world;
  if (gateway === undefined) {
    if (documented.includes(by)) return all;
    if (by === 'tcp') return { ...all, input: no, output: no, masking: no, refuses: world.refuses };
    return { ...all, input: maybe, output: maybe, masking: by === 'ssh' ? no : maybe };
  }
  const { isOld, ssh, sshInput, rdp } = gateway;
  switch (by) {
    case 'mysql':
      return isOld ? { ...all, input: no, output: no, redaction: no } : { ...all, redaction: no, refuses: world.refuses };
    case 'mssql':
      return { ...all, input: isOld ? no : yes, output: isOld ? no : maybe, masking: no, redaction: no };
    case 'ssh':
      // What runs as a command, and what people type; what returns by the shell, and by forwarded ports.
      return isOld
        ? { ...all, input: no, output: no, masking: no, redaction: no }
        : { ...all, input: [ssh, sshInput], output: [ssh, false], masking: no, redaction: no };
    case 'httpproxy':
    case 'grafana':
      return { ...all, output: maybe, redaction: no };
    case 'tcp':
      return { ...all, input: no, output: no, masking: no, redaction: no, refuses: !isOld };
    case 'rdp':
      // In the browser, and by other programs.
      return { ...all, input: no, output: no, masking: [rdp, false], redaction: no };
    case 'kafka':
      return textOf(spec['type']) === 'custom' ? all : { ...all, input: maybe, output: maybe, masking: maybe, redaction: maybe };
    default:
      return all;
  }
}
