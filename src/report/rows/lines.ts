import { groupBy } from '../../model/collections.ts';
import type { Orphans, Plan, Refusal } from '../../model/plan/plan.ts';
import { type Diagnostic, parsePosition } from '../../model/diagnostic.ts';
import type { Headline, PermissionChange } from '../../model/protection/protection.ts';
import { nameOf } from '../../model/resource.ts';
import type { Line, LinesBlock } from '../blocks.ts';
import { mark, markPlace } from '../marks.ts';
import { causesText, headlineConnections } from '../wording/causes.ts';
import {
  effectOfPermission,
  morePermissionsText,
  mostPermissions,
  permissionPlaces,
  permissionsTitle,
  permissionTable,
} from '../wording/permissions.ts';
import { type Notice } from '../wording/summary.ts';
import { plural } from '../wording/phrases.ts';
import { removalText } from '../wording/value.ts';
import { clip } from '../wrap.ts';
import { type EqualFindings, mergeEqual, policyWarnings } from './equal-findings.ts';
import { peopleText } from '../wording/people.ts';

const longestName = 60;
const longestText = 1000;
const longestCauses = 3000;

/** Returns what a reader must know first, a line each. */
export function noticesBlock(notices: readonly (string | Notice)[]): LinesBlock {
  const all = notices.map((one): Line => {
    const { text, at }: Notice = typeof one === 'string' ? { text: one } : one;
    return { text: `${mark('strong', clip(text, longestText))}${at === undefined ? '' : `  ${markPlace(at)}`}`, effect: 'unknown' };
  });
  return { type: 'lines', part: 'notices', lines: all, rank: 1, label: 'headline' };
}

/** Returns lines about one question, such as what was written; without lines there is nothing to report. */
export function factsBlock(title: string | undefined, lines: readonly Line[]): LinesBlock {
  const most = { whole: mostFacts, short: mostFacts, text: (more: number) => `and ${more} more (--format json lists all)` };
  return { type: 'lines', part: 'facts', ...(title === undefined ? {} : { title }), lines, most, rank: 2, label: 'list' };
}

const mostFacts = 20;

/** The objects that were removed from the manifests; `isInVerdict`: the verdict of the report states the headlines. */
type Beside = { readonly orphans: Orphans; readonly isInVerdict: boolean };

/** Returns headlines with the lines that cause them. */
export function headlinesBlock(headlines: readonly Headline[], { orphans, isInVerdict }: Beside): LinesBlock {
  return {
    type: 'lines',
    part: 'headlines',
    lines: headlines.map((one) => ({ ...headlineLine(one, orphans), isInVerdict })),
    most: {
      whole: Number.POSITIVE_INFINITY,
      short: 3,
      text: (more) => `and ${more} more about one connection each, with its change below`,
    },
    rank: 1,
    label: 'headline',
  };
}

function headlineLine(headline: Headline, orphans: Orphans): Line {
  const causes = causesText(headline.causes, {
    orphans,
    position: markPlace,
    name: String,
    named: headline.connections,
    removal: (orphan) => removalText(orphan, (id) => mark('commit', id)),
  });
  const beside = headlineConnections(headline, (text) => mark('name', text));
  return {
    text: `${mark('strong', headline.text)}${beside === '' ? '' : ` ${beside}`}`,
    effect: headline.direction,
    aside: causes.length > longestCauses ? '' : causes,
    isMinor: headline.connections.length === 1,
  };
}

/** Returns what people can do after a plan, the largest effect first. */
export function permissionsBlock(changes: readonly PermissionChange[]): LinesBlock {
  const all = permissionTable(changes, (text) => mark('name', clip(text, longestName)));
  const lines = all.map(({ who, what, turn, effect, causes }): Line => {
    const aside = permissionPlaces({ causes }, placeText);
    return { text: `${who}: ${what}: ${mark('strong', turn)}`, effect: effectOfPermission[effect], aside, isMinor: true };
  });
  const most = { whole: mostPermissions, short: 3, text: (more: number) => morePermissionsText(more) };
  return { type: 'lines', part: 'permissions', title: permissionsTitle, lines, most, rank: 2, label: 'permission' };
}

function placeText(place: string): string {
  const at = parsePosition(place);
  return at === undefined ? mark('name', place) : markPlace(at);
}

/** Returns why apply rejects a plan, and how to override each reason. */
export function refusalsBlock(refusals: readonly Refusal[]): LinesBlock {
  const merged = mergeEqual(refusals);
  const byCode = groupBy(merged, ({ first }) => first.code);
  const lines = merged.map((one): Line => {
    const { first, all } = one;
    const { code, hint, allowable } = first;
    const alike = byCode.get(code) ?? [];
    const isFirst = alike[0] === one;
    const override = alike.length === 1 ? 'override' : `override all ${alike.length}`;
    const { resource, at } = all.length === 1 ? first : {};
    const place = at === undefined ? '' : `  ${markPlace(at, 'exact')}`;
    const about = resource === undefined ? '' : `${mark('name', resource)}: `;
    return {
      text: `${mark('code', code)}${place}  ${about}${clip(countedMessage(one), longestText)}`,
      effect: 'weakens',
      below: [
        ...(hint === undefined || hint === '' ? [] : [clip(hint, longestText)]),
        ...(allowable && isFirst ? [`${override}: ${mark('command', `--allow ${code}=REASON`)}`] : []),
      ],
      places: all.length === 1 ? [] : all,
      full: newAccessTexts(all),
      likeness: code,
    };
  });
  return { type: 'lines', part: 'refusals', title: 'Apply rejects this plan', lines, rank: 1, label: 'refusal' };
}

/** Returns the people, verbs and connections of refusals; their messages name the first ones. */
function newAccessTexts(refusals: readonly Refusal[]): readonly string[] {
  const all = refusals.flatMap(({ newAccess = [] }) => newAccess);
  if (all.length < 2) return [];
  return all.map(({ connection, groups = [], oneOfEach, machine, verb, runbook }) => {
    const people = oneOfEach?.map((list) => list.join(' or ')) ?? groups;
    const who = machine ?? (people.length === 0 ? 'people in no other group' : peopleText(people));
    return `- ${who}: ${[verb, runbook].filter((one) => one !== undefined).join(' ')} on ${nameOf(connection)}`;
  });
}

/** Returns the overridden refusals, with the reasons. */
export function allowancesBlock(allowed: Plan['allowed']): LinesBlock {
  const lines = allowed.map(({ code, reason }): Line => ({
    text: `${mark('strong', 'Overridden:')} ${mark('code', code)}: ${clip(reason, longestText)}`,
    effect: 'unknown',
  }));
  return { type: 'lines', part: 'allowances', lines, rank: 2, label: 'allowance' };
}

/** Returns the warnings of policies, each with its connections. */
export function policyWarningsBlock({ policies }: Pick<Plan, 'policies'>): LinesBlock {
  const lines = mergeEqual(policyWarnings(policies)).map((one): Line => ({
    text: `${mark('code', one.first.code)} ${clip(countedMessage(one), longestText)}`,
    places: one.all,
  }));
  return warningsBlock(plural(lines.length, 'policy warning'), lines);
}

function countedMessage({ messages, all }: Pick<EqualFindings<unknown>, 'messages' | 'all'>): string {
  const message = messages.join('; ');
  return all.length === 1 ? message : `${message}: ${plural(all.length, 'connection')}`;
}

/** Returns lines of less importance than all others. */
export function warningsBlock(title: string, lines: readonly Line[]): LinesBlock {
  return { type: 'lines', part: 'warnings', title, lines, rank: 3, label: 'list' };
}

/** Returns a diagnostic as a line. */
export function diagnosticLine({ at, resource, severity, code, message, hint }: Diagnostic): Line {
  const place = at !== undefined ? `${markPlace(at)} ` : resource === undefined ? '' : `${mark('name', resource)} `;
  return {
    text: `${place}${severity} ${mark('code', code)} ${clip([message, ...(hint === undefined ? [] : [hint])].join('; '), longestText)}`,
  };
}
