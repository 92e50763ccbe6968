import { textOf, type Fields } from './gateway-objects.ts';
import type { World } from './worlds.ts';

/** Three ways by which something passes a session, and whether it is checked there: they matter only where sessions check one and not another one. */
export type Ways = readonly [boolean, boolean, boolean];

/** What sessions check, by each of three ways; `refuses`: there is none once a guardrail blocks something. */
export type Checks = {
  readonly input: Ways;
  readonly output: Ways;
  readonly masking: Ways;
  readonly redaction: Ways;
  readonly refuses: boolean;
};

const yes: Ways = [true, true, true];
const no: Ways = [false, false, false];
const all: Checks = { input: yes, output: yes, masking: yes, redaction: yes, refuses: false };

/** Subtypes, and types without one, that the document of the interface calls databases or commands. */
const documented = ['postgres', 'mysql', 'mssql', 'dynamodb', 'custom'];

function subtypeOf(spec: Fields): string {
  return textOf(spec['subtype']) === '' ? textOf(spec['type']) : textOf(spec['subtype']);
}

/** Returns what the provider of the public gateway finds: rules are sent to it only if it knows their types; the types of a connection always. */
function masksOf({ gateway, readsUnknown }: World): Pick<Checks, 'masking' | 'redaction'> {
  if (gateway === undefined) return { masking: yes, redaction: yes };
  const maybe: Ways = [readsUnknown, readsUnknown, readsUnknown];
  switch (gateway.provider) {
    case '':
      return { masking: no, redaction: no };
    case 'gcp':
      return { masking: no, redaction: yes };
    case 'unreported':
      return { masking: maybe, redaction: maybe };
    case 'mspresidio':
      return { masking: yes, redaction: yes };
  }
}

/** Returns what commands and runbooks check: everything that they send, and what the provider finds in what they return. */
export function commandChecks(world: World): Checks {
  return { ...all, ...masksOf(world) };
}

/** Returns what native sessions check, as the public gateway does, or as far as the document of the interface says. */
export function nativeChecks(spec: Fields, world: World): Checks {
  const by = subtypeOf(spec);
  const maybe: Ways = [world.readsUnknown, world.readsUnknown, world.readsUnknown];
  const { gateway } = world;
  if (gateway === undefined) {
    if (documented.includes(by)) return all;
    if (by === 'tcp') return { ...all, input: no, output: no, masking: no, refuses: world.refuses };
    return { ...all, input: maybe, output: maybe, masking: by === 'ssh' ? no : maybe };
  }
  const { isOld, ssh, sshInput, rdp, provider } = gateway;
  const found = { ...all, ...masksOf(world) };
  // SSH checks by a provider that runs beside the gateway; with another one, the source says both that it does and that it does not.
  const shell = (isOn: boolean): boolean => isOn && (provider === 'mspresidio' || world.readsUnknown);
  switch (by) {
    case 'mysql':
      return isOld ? { ...found, input: no, output: no, redaction: no } : { ...found, redaction: no, refuses: world.refuses };
    case 'mssql':
      return { ...found, input: isOld ? no : yes, output: isOld ? no : maybe, masking: no, redaction: no };
    case 'ssh':
      // What runs as a command, what people type, and what they send by forwarded ports, which are never read; what returns by the shell, and by such ports.
      return isOld
        ? { ...found, input: no, output: no, masking: no, redaction: no }
        : { ...found, input: [shell(ssh), shell(sshInput), false], output: [shell(ssh), shell(ssh), false], masking: no, redaction: no };
    case 'httpproxy':
    case 'grafana':
      return { ...found, output: maybe, redaction: no };
    case 'tcp':
      return { ...found, input: no, output: no, masking: no, redaction: no, refuses: !isOld };
    case 'rdp':
      // In the browser, and by other programs.
      return { ...found, input: no, output: no, masking: [rdp, rdp, false], redaction: no };
    case 'kafka':
      return textOf(spec['type']) === 'custom' ? found : { ...found, input: maybe, output: maybe, masking: maybe, redaction: maybe };
    default:
      return found;
  }
}
