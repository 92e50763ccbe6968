import { governing, type AccessState } from './access-model.ts';
import type { AccessVerdict } from './access-judgement.ts';
import { unreadLists } from './access-drawing.ts';
import type { AccessPair } from './access-pairs.ts';
import type { AccessRun } from './run-access-pair.ts';

type Context = {
  readonly pair: AccessPair;
  readonly run: AccessRun;
  readonly name: string;
  readonly verdict: AccessVerdict;
  /** The name of the connection before: its own, or that of its predecessor. */
  readonly former: string;
};

/** What plans do not name, and what is too rare to demand. */
export const rareFeature = 'a credential that needs less than native access';

/** What a connection of a pair can exercise. Each of these has to occur often enough, so that no law holds only because nothing tests it. */
const tests: Readonly<Record<string, (context: Context) => boolean>> = {
  'an attribute that grants groups is added': (context) => isAttributeChanged(context, 'added', grantsGroups),
  'an attribute that grants groups is removed': (context) => isAttributeChanged(context, 'removed', grantsGroups),
  'an attribute that links a rule is added': (context) => isAttributeChanged(context, 'added', linksRule),
  'an attribute that links a rule is removed': (context) => isAttributeChanged(context, 'removed', linksRule),
  'an attribute of a machine identity is added': (context) => isAttributeChanged(context, 'added', hasMachine),
  'an attribute of a machine identity is removed': (context) => isAttributeChanged(context, 'removed', hasMachine),
  'an attribute without effect is added': (context) => isAttributeChanged(context, 'added', doesNothing),
  'an attribute without effect is removed': (context) => isAttributeChanged(context, 'removed', doesNothing),
  'an attribute that grants groups and links a rule changes': (context) =>
    isAttributeChanged(context, 'any', (state, one) => grantsGroups(state, one) && linksRule(state, one)),
  'reviewers change where a rule governs': (context) => isFieldChanged(context, 'reviewers') && isGoverned(context),
  'reviewers change where no rule governs': (context) => isFieldChanged(context, 'reviewers') && !isGoverned(context),
  'the number of approvals changes': (context) => isFieldChanged(context, 'minApprovals'),
  'forcing groups change': (context) => isFieldChanged(context, 'forcing'),
  'the duration changes where a rule governs': (context) => isFieldChanged(context, 'longest') && isGoverned(context),
  'the duration changes where no rule governs': (context) => isFieldChanged(context, 'longest') && !isGoverned(context),
  'the free license': ({ run: { before }, name }) => before.license === 'free' && (before.connections[name]?.reviewers.length ?? 0) > 0,
  'a mode opens': (context) => isModeChanged(context, (had, has) => has.some((mode) => !had.includes(mode))),
  'a mode closes': (context) => isModeChanged(context, (had, has) => had.some((mode) => !has.includes(mode))),
  'a new connection with access control': ({ run: { before }, former }) =>
    before.connections[former] === undefined && before.rows !== undefined,
  'a new connection without access control': ({ run: { before }, former }) =>
    before.connections[former] === undefined && before.rows === undefined,
  'a new connection that a rule waits for': (context) => !isOld(context) && isGoverned(context),
  'a replaced connection': ({ name, former, run: { before } }) => name !== former && before.connections[former] !== undefined,
  'a replaced connection with another row': ({ name, former, run: { before } }) =>
    name !== former && before.rows !== undefined && JSON.stringify(before.rows[former]) !== JSON.stringify(before.rows[name]),
  'a connection that a group can newly see': (context) => isOld(context) && context.verdict.weaker.has('who'),
  'a connection that a group can no longer see': (context) => isOld(context) && context.verdict.stronger.has('who'),
  'a weaker approval': (context) => isOld(context) && context.verdict.gains.some(({ by }) => by.includes('approval')),
  'a stronger approval': (context) => isOld(context) && context.verdict.losses.some(({ by }) => by.includes('approval')),
  'a longer duration': (context) => isOld(context) && context.verdict.gains.some(({ by }) => by.includes('duration')),
  'a shorter duration': (context) => isOld(context) && context.verdict.losses.some(({ by }) => by.includes('duration')),
  'more runbooks': (context) => isOld(context) && context.verdict.weaker.has('runbooks'),
  'another analyzer': (context) => isOld(context) && (context.verdict.weaker.has('analyzer') || context.verdict.stronger.has('analyzer')),
  'an approval that is weaker for some people, and stronger for others': (context) =>
    isOld(context) && context.verdict.weaker.has('approval') && context.verdict.stronger.has('approval'),
  'a change that makes nothing weaker': ({ verdict, run: { before, after }, name }) =>
    verdict.gains.length === 0 && JSON.stringify(before.connections[name]) !== JSON.stringify(after.connections[name]),
  'a change without effect on access': ({ verdict, run: { before, after }, name }) =>
    verdict.gains.length + verdict.losses.length === 0 &&
    JSON.stringify(before.connections[name]) !== JSON.stringify(after.connections[name]),
  'a gain of a machine identity': (context) => isOld(context) && context.verdict.gains.some(({ subject }) => subject.machine !== undefined),
  'a gain of some groups only': (context) =>
    isOld(context) &&
    context.verdict.gains.length > 0 &&
    context.verdict.gains.every(({ subject }) => subject.groups.length > 0 || subject.machine !== undefined),
  [rareFeature]: (context) =>
    isOld(context) && context.verdict.gains.every(({ request }) => request === 'credential') && context.verdict.gains.length > 0,
  'held drift': ({ run: { plan }, name }) =>
    plan.changes.some(({ id, fields }) => id === `Connection/${name}` && fields.some(({ held }) => held === true)),
};

/** Lists all that a pair can exercise. */
export const accessFeatures: readonly string[] = [
  ...Object.keys(tests).filter((name) => name !== rareFeature),
  'a deleted connection',
  ...unreadLists.map((list) => `a gain without the list ${list}`),
];

/** Lists what a pair exercised. */
export function accessFeaturesOf(pair: AccessPair, run: AccessRun, verdicts: ReadonlyMap<string, AccessVerdict>): readonly string[] {
  const found = [...verdicts].flatMap(([name, verdict]) => {
    const former = run.before.connections[name] === undefined ? (pair.predecessors[name] ?? name) : name;
    return Object.keys(tests).filter((feature) => tests[feature]?.({ pair, run, name, verdict, former }) === true);
  });
  const isDeleted = Object.keys(run.before.connections).some((name) => run.after.connections[name] === undefined);
  return [...new Set([...found, ...(isDeleted ? ['a deleted connection'] : [])])];
}

/** Returns whether the connection, or its predecessor, was there before. */
function isOld({ run: { before }, former }: Context): boolean {
  return before.connections[former] !== undefined;
}

function isFieldChanged({ run: { before, after }, name }: Context, field: 'reviewers' | 'minApprovals' | 'forcing' | 'longest'): boolean {
  const [had, has] = [before.connections[name], after.connections[name]];
  return had !== undefined && JSON.stringify(had[field]) !== JSON.stringify(has?.[field]);
}

function isModeChanged(
  { run: { before, after }, name }: Context,
  test: (had: readonly string[], has: readonly string[]) => boolean,
): boolean {
  const had = before.connections[name];
  return had !== undefined && test(had.open, after.connections[name]?.open ?? []);
}

function isGoverned({ run: { after }, name }: Context): boolean {
  return governing(after, name, 'jit') !== undefined || governing(after, name, 'command') !== undefined;
}

type AttributeTest = (state: AccessState, attribute: string) => boolean;

function isAttributeChanged({ run: { before, after }, name }: Context, how: 'added' | 'removed' | 'any', test: AttributeTest): boolean {
  const [had, has] = [before.connections[name], after.connections[name]];
  if (had === undefined || has === undefined) return false;
  const added = has.attributes.filter((one) => !had.attributes.includes(one));
  const removed = had.attributes.filter((one) => !has.attributes.includes(one));
  const changed = [...(how === 'removed' ? [] : added), ...(how === 'added' ? [] : removed)];
  return changed.some((attribute) => test(before, attribute));
}

const grantsGroups: AttributeTest = ({ rows, granted }, attribute) => rows !== undefined && (granted[attribute] ?? []).length > 0;
const linksRule: AttributeTest = ({ rules }, attribute) => rules.some(({ attributes }) => attributes.includes(attribute));
const hasMachine: AttributeTest = ({ machines }, attribute) => machines.some(({ attributes }) => attributes.includes(attribute));
const doesNothing: AttributeTest = (state, attribute) =>
  !grantsGroups(state, attribute) && !linksRule(state, attribute) && !hasMachine(state, attribute);
