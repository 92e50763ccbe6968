import { groupBy, joinWords, memoizeByObject, memoizeByText } from '../../model/collections.ts';
import { asText, type JsonObject } from '../../model/json.ts';
import type { AccessMode } from '../../model/protection/access-objects.ts';
import {
  enforcedControls,
  type EnforcedControl,
  type Enforcement,
  type EnforcementCase,
  type EnforcementCell,
  type EnforcementRow,
  enforcementTable,
  flagsSince,
  ofCommands,
  unknownType,
} from './enforcement-table.ts';

/** What a gateway reports of itself that decides whether it enforces rules. */
export type EnforcingGateway = {
  /** Absent on a gateway that is not a public one. */
  readonly version?: string | undefined;
  /** The provider that finds what is masked: '' where there is none; absent where it is not known. */
  readonly provider?: string | undefined;
  /** The feature flags by name; absent where they are not known. */
  readonly flags?: ReadonlyMap<string, boolean> | undefined;
};

/** One way to use a connection: by its own protocol, or by commands and runbooks, which run alike. */
export type Channel = {
  readonly name: string;
  readonly isOpen: boolean;
  readonly of: Readonly<Record<EnforcedControl, Enforcement>>;
};

/** How a connection enforces rules. Equal keys: in the same way, and as openly. */
export type ConnectionEnforcement = {
  readonly by: string;
  readonly channels: ReadonlyMap<ChannelName, Channel>;
  /** What native sessions do with the analyzer; undefined for types that it does not read. */
  readonly analyzer: Enforcement | undefined;
  readonly key: string;
};

type ChannelName = 'native' | 'commands';
const channelNames: readonly ChannelName[] = ['native', 'commands'];

/** Returns whether the enforcement of a control is in the table. */
export function isEnforcedControl(control: string): control is EnforcedControl {
  return enforcedControls.some((one) => one === control);
}

/** The fields of a connection that have its type. */
export const typeFields: readonly string[] = ['type', 'subtype'];

/** The fields of a connection that decide how it enforces rules. */
export const enforcingFields: readonly string[] = [...typeFields, 'access_mode_connect', 'access_mode_exec', 'access_mode_runbooks'];

const readerOf = memoizeByObject((gateway: EnforcingGateway) => memoizeByText((key) => readEnforcement(key.split('\n'), gateway)));

/** Returns how a connection enforces rules on a gateway. */
export function enforcementOf(
  { type, subtype, access_mode_connect: connect, access_mode_exec: exec, access_mode_runbooks: runbooks }: JsonObject,
  gateway: EnforcingGateway,
): ConnectionEnforcement {
  const modes = [connect === 'enabled' ? 'native' : '', exec === 'enabled' || runbooks === 'enabled' ? 'commands' : ''];
  return readerOf(gateway)([asText(type), asText(subtype), ...modes].join('\n'));
}

function readEnforcement([type = '', subtype = '', ...open]: readonly string[], gateway: EnforcingGateway): ConnectionEnforcement {
  const by = subtype === '' ? type : subtype;
  const row = findEnforcementRow(type, by, gateway);
  const channelOf = (name: ChannelName, cellOf: (control: EnforcedControl) => EnforcementCell): Channel => {
    const level = (control: EnforcedControl): Enforcement => decide(cellOf(control), gateway) ?? 'unclear';
    const of = { input: level('input'), output: level('output'), masking: level('masking'), redaction: level('redaction') };
    return { name: name === 'native' ? `native ${by}` : name, isOpen: open.includes(name), of };
  };
  const native = channelOf('native', (control) => row.native[control]);
  const runs = decide(row.commands ?? 'enforced', gateway);
  const commands =
    runs === 'none'
      ? []
      : [['commands', channelOf('commands', (control) => (runs === undefined ? 'unclear' : ofCommands[control]))] as const];
  const channels = new Map<ChannelName, Channel>([['native', native], ...commands]);
  const analyzer = row.analyzer === undefined ? undefined : (decide(row.analyzer, gateway) ?? 'unclear');
  return { by, channels, analyzer, key: JSON.stringify([by, ...[...channels.values()].map(({ isOpen, of }) => [isOpen, of])]) };
}

function findEnforcementRow(type: string, by: string, { version }: EnforcingGateway): EnforcementRow {
  const isOf = ({ of }: EnforcementRow): boolean =>
    of === undefined || by === type || of.includes(type) || (version === undefined && type !== 'httpproxy');
  return (
    enforcementTable.find((row) => row.subtypes.includes(by) && isOf(row)) ??
    enforcementTable.find(({ types = [] }) => types.includes(type)) ??
    unknownType
  );
}

/** Returns the result of the first case that holds; undefined where cases that may hold have several results. */
function decide<Result extends string>(cell: EnforcementCell<Result>, gateway: EnforcingGateway): Result | undefined {
  if (typeof cell === 'string') return cell;
  const possible = new Set<Result>();
  for (const one of cell) {
    const holds = doesHold(one, gateway);
    if (holds !== false) possible.add(one.is);
    if (holds === true) break;
  }
  const [only, ...others] = possible;
  return others.length === 0 ? only : undefined;
}

/** Returns whether all conditions of a case hold; undefined where the gateway does not report what decides it. */
function doesHold(
  { before, undescribed, flags = {}, provider }: Omit<EnforcementCase<unknown>, 'is'>,
  gateway: EnforcingGateway,
): boolean | undefined {
  const all = [
    ...(before === undefined
      ? []
      : [isOlder(gateway.version, before) ?? (isOlder(leastOf(gateway), before) === false ? false : undefined)]),
    ...(undescribed === undefined ? [] : [gateway.version === undefined]),
    ...Object.entries(flags).map(([name, isOn]) => {
      const found = gateway.flags?.get(name);
      return found === undefined ? undefined : found === isOn;
    }),
    ...(provider === undefined
      ? []
      : [gateway.version !== undefined && (gateway.provider === undefined ? undefined : provider.includes(gateway.provider))]),
  ];
  if (all.includes(false)) return false;
  return all.includes(undefined) ? undefined : true;
}

/** Returns the least version that a gateway can have, by a flag that it lists. */
function leastOf({ flags }: EnforcingGateway): string | undefined {
  return Object.entries(flagsSince).find(([name]) => flags?.has(name))?.[1];
}

function isOlder(version: string | undefined, than: string): boolean | undefined {
  const [own, other] = [version, than].map((text) =>
    /^v?(\d+)\.(\d+)(?:\.(\d+))?/
      .exec(text ?? '')
      ?.slice(1)
      .map((part) => Number(part ?? 0)),
  );
  if (own === undefined || other === undefined) return undefined;
  const index = own.findIndex((part, at) => part !== other[at]);
  return index >= 0 && (own[index] ?? 0) < (other[index] ?? 0);
}

/** Returns whether the gateway runs commands and runbooks on a connection, or may do so. */
export function runsCommands({ channels }: ConnectionEnforcement): boolean {
  return channels.has('commands');
}

/** Returns what the type of a connection decides about its use. */
export function usedBy(enforcement: ConnectionEnforcement): { readonly runsCommands: boolean; readonly mayAnalyzeNative: boolean } {
  const { analyzer = 'unchecked' } = enforcement;
  return { runsCommands: runsCommands(enforcement), mayAnalyzeNative: analyzer !== 'unchecked' };
}

/** Returns the way of a verb to use a connection, or those that are open; all of them where none is. */
function usedChannels({ channels }: ConnectionEnforcement, verb: AccessMode | undefined): readonly Channel[] {
  if (verb !== undefined) return [channels.get(verb === 'connect' ? 'native' : 'commands') ?? []].flat();
  const all = [...channels.values()];
  const open = all.filter(({ isOpen }) => isOpen);
  return open.length > 0 ? open : all;
}

/** Returns what happens to a control by one verb, or by each that is open. */
export function levelsOf(enforcement: ConnectionEnforcement, control: EnforcedControl, verb?: AccessMode): readonly Enforcement[] {
  return usedChannels(enforcement, verb).map(({ of }) => of[control]);
}

/**
 * Returns what happens to a control before and after, by each way to use a connection that is open on both sides: one that opens or closes
 * changes the access, and nothing that was enforced before.
 */
export function sharedLevels(
  before: ConnectionEnforcement,
  after: ConnectionEnforcement,
  control: EnforcedControl,
): readonly SharedLevel[] {
  const both = channelNames.flatMap((name) => {
    const [first, last] = [before.channels.get(name), after.channels.get(name)];
    return first === undefined || last === undefined ? [] : [{ first, last }];
  });
  const open = both.filter(({ first, last }) => first.isOpen && last.isOpen);
  const either = both.filter(({ first, last }) => first.isOpen || last.isOpen);
  const chosen = open.length > 0 ? open : either.length > 0 ? either : both;
  const pairs = chosen.map(({ first, last }): SharedLevel => {
    const levels = [first.of[control], last.of[control]] as const;
    // What is not known of one type may differ from what is not known of another one.
    return { levels, isAlike: levels[0] === levels[1] && (levels[0] !== 'unclear' || first.name === last.name) };
  });
  return [...new Map(pairs.map((pair) => [[...pair.levels, pair.isAlike].join('\n'), pair])).values()];
}

/** What happens to a control before and after by one way to use a connection, and whether that is certainly the same. */
export type SharedLevel = { readonly levels: readonly [Enforcement, Enforcement]; readonly isAlike: boolean };

/** Returns whether a control is enforced alike before and after. */
export function isSameEnforcement(before: ConnectionEnforcement, after: ConnectionEnforcement, control: EnforcedControl): boolean {
  return before.key === after.key || sharedLevels(before, after, control).every(({ isAlike }) => isAlike);
}

/** Returns whether one level checks everything that another one checks; undefined where only a session shows it. */
export function checksAllOf(level: Enforcement, other: Enforcement): boolean | undefined {
  if (level === other || level.endsWith('enforced')) return true;
  if (other.endsWith('enforced')) return false;
  const [own, all] = [level, other].map((one) => one.replace('only ', '').split(' and '));
  return all?.every((part) => own?.includes(part) === true);
}

/** Returns whether sessions certainly check all of a control; what is refused passes nothing. */
export function isChecked(level: Enforcement): boolean {
  return level === 'refused' || level.endsWith('enforced');
}

/** Returns what a connection does with a control other than to enforce it: `not enforced on native ssh`; by one verb, or by each that is open. */
export function enforcementNote(enforcement: ConnectionEnforcement, control: EnforcedControl, verb?: AccessMode): string | undefined {
  const byLevel = groupBy(usedChannels(enforcement, verb), ({ of }) => of[control]);
  const notes = [...byLevel].flatMap(([level, own]) => noteOf(level, joinWords(own.map(({ name }) => name))));
  return notes.length === 0 ? undefined : notes.join('; ');
}

/** Returns what native sessions do with the analyzer; undefined for types that it does not read. */
export function analyzerNote({ analyzer, by }: ConnectionEnforcement): string | undefined {
  return analyzer === undefined ? undefined : noteOf(analyzer, `native ${by}`).join();
}

function noteOf(level: Enforcement, where: string): readonly string[] {
  switch (level) {
    case 'enforced':
    case 'refused or enforced':
      return [];
    case 'unchecked':
      return [`not enforced on ${where}`];
    case 'unclear':
      return [`not known whether enforced on ${where}`];
    case 'refused':
      return [`${where} refuses sessions`];
    default:
      return [`enforced on ${where} for ${level.replace('only ', '')} alone`];
  }
}
