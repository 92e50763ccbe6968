import { createHash } from 'node:crypto';
import type { ApplyResult } from '../../model/result/outcome.ts';
import type { ProtectionMatrix } from '../../model/protection/protection-matrix.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { highestPlanRisk } from '../../model/plan/plan-risk.ts';
import type { Headline, ProtectionVerdict } from '../../model/protection/protection.ts';
import { highestRisk } from '../../model/plan/risk.ts';
import { nameOf } from '../../model/resource.ts';
import { shortList, planSummaryText } from '../wording/counts.ts';
import { groupPlan, type GroupedChange } from '../subjects/groups.ts';
import type { LinkOf } from '../links.ts';
import { sideLists } from '../subjects/side-lists.ts';
import { groupSection } from './changes.ts';
import { element, empty, joinHtml, verbatim, type Html } from './markup.ts';
import { pictureTable } from './picture.ts';
import { postureDetails } from './protection.ts';
import { outcomeSection } from './outcomes.ts';
import { placeHtml } from './place.ts';
import { reachTable } from './reach.ts';
import { script } from './script.ts';
import { style } from './style.ts';
import { badge, ways, wordOf } from './badges.ts';

/** A plan, the picture of its gateway where one was drawn, and what became of it where it was carried out. */
export type Pictured = { readonly plan: Plan; readonly picture: ProtectionMatrix; readonly result?: ApplyResult };

const many = 200;
const mostNames = 12;
const mostListed = 200;

/**
 * Plans as one page that stands alone: no network, no script but its own, whose hash the page names; nothing that a manifest
 * or a gateway says becomes HTML. Works printed and in the dark.
 */
export function planHtml(plans: readonly Pictured[], linkOf?: LinkOf): string {
  const isApplied = plans.some(({ result }) => result !== undefined);
  const title = `${isApplied ? 'Apply to' : 'Plan for'} ${plans.map(({ plan }) => plan.target.name).join(', ')}`;
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  const head = element('head', {}, [
    empty('meta', { charset: 'utf-8' }),
    empty('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    empty('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    empty('meta', { name: 'color-scheme', content: 'light dark' }),
    empty('meta', { name: 'referrer', content: 'no-referrer' }),
    element('title', {}, title),
    verbatim('style', style),
  ]);
  // Drawing only what is looked at pays where there is much of it.
  const isMuch = plans.reduce((sum, { plan }) => sum + plan.changes.length, 0) > many;
  const body = element('body', { class: isMuch ? 'many' : undefined }, [
    element('a', { class: 'skip', href: '#main' }, isApplied ? 'Skip to what became of it' : 'Skip to the plan'),
    element('main', { id: 'main' }, [element('h1', {}, title), tools(), ...plans.map((one) => planSection(one, linkOf))]),
    verbatim('script', script),
  ]);
  return `<!doctype html>\n${element('html', { lang: 'en' }, [head, body]).html}\n`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function tools(): Html {
  const choices = ways.map((way) => element('option', { value: way }, wordOf(way)));
  return element('div', { class: 'tools', role: 'search' }, [
    element('label', {}, [
      'Search ',
      empty('input', { type: 'search', id: 'search', placeholder: 'a name, or env=prod', autocomplete: 'off' }),
    ]),
    element('label', {}, ['Show ', element('select', { id: 'way' }, [element('option', { value: '' }, 'everything'), ...choices])]),
    element('button', { type: 'button', id: 'fold' }, 'Unfold or fold all'),
    element('span', { id: 'told', class: 'quiet', 'aria-live': 'polite' }, ''),
  ]);
}

function planSection({ plan, picture, result }: Pictured, linkOf: LinkOf | undefined): Html {
  const { protection, target } = plan;
  const { groups, others } = groupPlan(plan);
  const changed = protection?.connections ?? [];
  const highest = highestPlanRisk(plan);
  return element('section', { 'aria-label': `Plan for ${target.name}` }, [
    element('p', {}, [
      element('span', { class: 'count' }, planSummaryText(plan)),
      highest === undefined ? '' : ` Highest risk: ${highest}.`,
    ]),
    element('p', { class: 'quiet' }, [
      `${target.url} · digest `,
      element('code', {}, plan.digest.slice(0, 12)),
      ' · manifests ',
      element('code', {}, plan.tree.slice(0, 12)),
      ...(plan.base === undefined ? [] : [' · applied last ', element('code', {}, plan.base.slice(0, 12))]),
    ]),
    ...(result === undefined ? [] : [outcomeSection(result)]),
    ...refusalSection(plan, linkOf, result !== undefined),
    element('h2', {}, 'What it means'),
    headlineList(protection?.headlines ?? [], linkOf),
    ...(protection?.reach === undefined ? [] : [element('h2', {}, 'What each cause reaches'), ...reachTable(protection.reach, linkOf)]),
    ...(picture.length === 0 ? [] : [element('h2', {}, 'Connections and what protects them'), pictureTable(picture)]),
    ...(changed.length === 0 ? [] : [element('h2', {}, 'Before and after'), postureList(changed, linkOf)]),
    ...(groups.length === 0 ? [] : [element('h2', {}, 'Changes'), ...groups.map((group) => groupSection(group, wayOf, linkOf))]),
    ...sideListDetails(plan, others),
  ]);
}

function headlineList(headlines: readonly Headline[], linkOf: LinkOf | undefined): Html {
  if (headlines.length === 0) return element('p', { class: 'quiet' }, 'Nobody is less or more protected than before.');
  return element(
    'ul',
    { class: 'headlines' },
    headlines.map(({ way, text, connections, causes }) => {
      const names = shortList(connections.map(nameOf), mostNames).join(', ');
      const places = causes.flatMap(({ place }) => (place === undefined ? [] : [place])).slice(0, 3);
      return element('li', { class: way }, [
        badge(way),
        ' ',
        element('strong', {}, text),
        ' ',
        element('span', { class: 'mono' }, names),
        ...[...new Set(places)].map((place) => joinHtml([' ', placed(place, linkOf)])),
        ...(causes.some(({ byHand }) => byHand === true) ? [element('span', { class: 'quiet' }, ' changed by hand')] : []),
      ]);
    }),
  );
}

function placed(place: string, linkOf: LinkOf | undefined): Html {
  const [, file = place, line = '1', column = '1'] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? [];
  return placeHtml({ file, line: Number(line), column: Number(column) }, linkOf);
}

function refusalSection({ refusals, allowed }: Plan, linkOf: LinkOf | undefined, isApplied: boolean): readonly Html[] {
  const refused = refusals.map(({ code, message, hint, resource, at }) =>
    element('li', {}, [
      element('code', {}, code),
      ...(resource === undefined ? [] : [' ', element('span', { class: 'mono' }, resource)]),
      ` ${message}${hint === undefined ? '' : `: ${hint}`}`,
      ...(at === undefined ? [] : [' ', placeHtml(at, linkOf)]),
    ]),
  );
  const overridden = allowed.map(({ code, reason }) => element('li', {}, [element('code', {}, code), ` allowed: ${reason}`]));
  const heading = element('h2', {}, 'Refused: apply would not run this plan');
  return [
    ...(refused.length === 0 || isApplied ? [] : [element('section', { class: 'refusals' }, [heading, element('ul', {}, refused)])]),
    ...(overridden.length === 0 ? [] : [element('ul', {}, overridden)]),
  ];
}

function postureList(changed: readonly Parameters<typeof postureDetails>[0][], linkOf: LinkOf | undefined): Html {
  const sorted = changed.toSorted((left, right) => ways.indexOf(left.way) - ways.indexOf(right.way));
  return element(
    'div',
    { 'data-part': true },
    sorted.map((change) => postureDetails(change, linkOf)),
  );
}

function wayOf({ change }: GroupedChange): ProtectionVerdict {
  const risk = highestRisk(change.risks ?? []);
  if (risk === 'weakens' || risk === 'strengthens' || risk === 'unknown') return risk;
  return risk === 'availability' || risk === 'reroutes' ? 'unknown' : 'neutral';
}

function sideListDetails(plan: Plan, others: Parameters<typeof sideLists>[1]): readonly Html[] {
  const lists = sideLists(plan, others);
  if (lists.length === 0) return [];
  const folded = lists.map(({ title, entries }) =>
    element('details', {}, [
      element('summary', {}, title),
      element(
        'ul',
        {},
        shortList(entries, mostListed).map((entry) => element('li', { class: 'mono' }, entry)),
      ),
    ]),
  );
  return [element('h2', {}, 'Left as it is'), ...folded];
}
