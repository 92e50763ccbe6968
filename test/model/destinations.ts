import { analyzerTerms, mayRunFile, riskLevels } from './access-model.ts';
import type { AccessState, Lead, Machine, Subject, Terms } from './access-model.ts';
import { accessPools } from './access-pools.ts';
import { isEasier, withoutOwnApproval } from './approvals.ts';
import { filesIn, termsAt, verbs, type Compared, type Gain, type Verb } from './new-access.ts';
import { subsetsOf } from './universe.ts';

/** What a connection leads to, and as whom. */
type Place = {
  readonly server: string | undefined;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly credentials: readonly string[];
  /** Without a server, people reach what the agent runs. */
  readonly program: string;
};

/** Where servers listen if nothing says otherwise. */
const defaultPorts: Readonly<Record<string, string>> = { postgres: '5432', ssh: '22' };

/** Returns where secrets lead: by host and port, or by a URL. Hosts have no case, and the agent itself is another machine for each agent. */
function placeOf({ secrets, agent, subtype, program }: Lead): Place {
  const { HOST, PORT, DB, USER, URL: address } = secrets;
  const url = address === undefined ? undefined : new URL(address);
  const host = (url?.hostname ?? HOST)?.toLowerCase().replace(/\.$/, '');
  const port = url?.port ?? PORT ?? '';
  const at = host === 'localhost' ? ` by ${agent}` : '';
  return {
    server:
      host === undefined
        ? undefined
        : `${host} ${port === '' ? defaultPorts[url === undefined ? subtype : url.protocol.replace(':', '')] : port}${at}`,
    database: orNone(url?.pathname.slice(1) ?? DB),
    user: orNone(url?.username ?? USER),
    credentials: ['PASS', 'TOKEN'].flatMap((key) => secrets[key] ?? []),
    program: `${program} by ${agent}`,
  };
}

function orNone(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Returns whether both lead to the same: one server, no other database, and one user or a credential that both have. */
function isSamePlace(one: Place, other: Place): boolean {
  const isShared = one.credentials.some((own) => other.credentials.includes(own));
  if (one.server === undefined || other.server === undefined) {
    const isBare = one.credentials.length + other.credentials.length === 0;
    return one.server === other.server && one.program === other.program && (isShared || isBare);
  }
  if (one.server !== other.server) return false;
  if (one.database !== undefined && other.database !== undefined && one.database !== other.database) return false;
  return isShared || (one.user !== undefined && one.user === other.user);
}

/** Native access gives what commands give, and commands what runbooks give. */
const covering: Readonly<Record<Verb, readonly Verb[]>> = {
  connect: ['connect'],
  exec: ['exec', 'connect'],
  runbooks: ['runbooks', 'exec', 'connect'],
};

const people: readonly Subject[] = subsetsOf<string>(accessPools.groups).map((groups) => ({ groups }));

/**
 * Lists who reaches a destination more easily than by any single connection that led there before: everybody but those who see every connection, by
 * each verb. A connection that led there itself says all by its own terms.
 */
export function destinationGains({ before, after, predecessors }: Compared): readonly Gain[] {
  const led = placesIn(before);
  return [...placesIn(after)].flatMap(([connection, place]): readonly Gain[] => {
    const former = led.has(connection) ? connection : predecessors[connection];
    const guarded = [...led].flatMap(([name, one]) => (isSamePlace(one, place) ? [name] : []));
    if (guarded.length === 0 || (former !== undefined && guarded.includes(former))) return [];
    const sides: Sides = { before, after, connection, guarded };
    const gains = people.flatMap((person) =>
      verbs.flatMap((verb) => (isGained(sides, person, verb) ? [{ connection, verb, groups: person.groups }] : [])),
    );
    return [
      ...gains,
      ...after.machines.flatMap((machine) => (isGainedBy(sides, machine) ? [{ connection, verb: 'connect' as const }] : [])),
    ];
  });
}

function placesIn({ connections }: AccessState): ReadonlyMap<string, Place> {
  return new Map(Object.entries(connections).flatMap(([name, { lead }]) => (lead === undefined ? [] : [[name, placeOf(lead)] as const])));
}

/** Lists the connections that may lead where another one does, with its credential to a place of which one of both says nothing, and that could not before. */
export function possibleGains({ before, after, predecessors }: Compared): readonly string[] {
  const led = placesIn(before);
  return [...placesIn(after)].flatMap(([connection, place]): readonly string[] => {
    const origin = led.has(connection) ? connection : (predecessors[connection] ?? '');
    const former = led.get(origin);
    if (former !== undefined && isSamePlace(former, place)) return [];
    const guarded = [...led].flatMap(([name, one]) =>
      name !== origin && maySharePlace(one, place) && !(former !== undefined && maySharePlace(one, former)) ? [name] : [],
    );
    const sides: Sides = { before, after, connection, guarded };
    const isGain =
      people.some((person) => verbs.some((verb) => isGained(sides, person, verb))) ||
      after.machines.some((machine) => isGainedBy(sides, machine));
    return guarded.length > 0 && isGain ? [connection] : [];
  });
}

function maySharePlace(one: Place, other: Place): boolean {
  const isOneUnknown = (one.server === undefined) !== (other.server === undefined);
  return isOneUnknown && one.credentials.some((own) => other.credentials.includes(own));
}

type Sides = Pick<Compared, 'before' | 'after'> & { readonly connection: string; readonly guarded: readonly string[] };

function isGained({ before, after, connection, guarded }: Sides, person: Subject, verb: Verb): boolean {
  const has = waysOf(after, person, connection, verb);
  if (has === undefined) return false;
  return !guarded.some((name) =>
    covering[verb].some((other) => {
      const had = waysOf(before, person, name, other);
      return had !== undefined && isCovered(has, had, verb, other);
    }),
  );
}

/** A machine identity acts as an admin, and has native access alone. */
function isGainedBy({ before, after, connection, guarded }: Sides, machine: Machine): boolean {
  const subject: Subject = { groups: [], machine };
  const mayUse = (state: AccessState, name: string): boolean => termsAt(state, subject, name, 'connect') !== undefined;
  return mayUse(after, connection) && !guarded.some((name) => mayUse(before, name));
}

/** What people can do: after whose approval, for how long, with what the analyzer asks at each level of risk, and the files. */
type Ways = { readonly terms: Terms; readonly analyzed: readonly Terms[]; readonly files: readonly boolean[] };

function waysOf(state: AccessState, subject: Subject, name: string, verb: Verb): Ways | undefined {
  const found = termsAt(state, subject, name, verb);
  if (found === undefined) return undefined;
  const files = verb === 'runbooks' ? filesIn(state).map((file) => mayRunFile(state, subject, name, file)) : [];
  const analyzed = riskLevels.map((level) => analyzerTerms(state, name, level));
  return { terms: withoutOwnApproval(found, subject), files, analyzed };
}

/** Returns whether people who could do something need as little for it now; native access has no analyzer, and time and files limit the same verb alone. */
function isCovered(has: Ways, had: Ways, verb: Verb, other: Verb): boolean {
  if (isEasier(has.terms, had.terms)) return false;
  if (other !== 'connect' && has.analyzed.some((terms, level) => isEasier(terms, had.analyzed[level] ?? terms))) return false;
  if (verb !== other) return true;
  const isLonger = has.terms.approval !== undefined && had.terms.approval !== undefined && has.terms.longest > had.terms.longest;
  return !isLonger && has.files.every((runs, index) => !runs || had.files[index] === true);
}
