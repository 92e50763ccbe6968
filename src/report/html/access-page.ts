import { createHash } from 'node:crypto';
import { asArray, asObject, asText, type JsonObject, objectsIn, parseJson, textsIn } from '../../model/json.ts';
import { escapeJson } from '../escape.ts';
import { plural } from '../wording/summary.ts';
import { element, empty, type Html, verbatim } from './markup.ts';
import { accessScript, accessStyle, htmlStyle } from './page-assets.ts';

/** Renders a report on access as a self-contained page, which a search narrows and which prints on A4. */
export function renderAccessPage(report: JsonObject): string {
  const rows = objectsIn(report['rows']);
  const connections = new Set(rows.map(({ connection }) => connection)).size;
  const title = `Who can reach ${plural(connections, 'connection')} of ${asText(report['target'])}`;
  const policy = `default-src 'none'; style-src ${hashSource(htmlStyle)} ${hashSource(accessStyle)}; script-src ${hashSource(accessScript)}; base-uri 'none'; form-action 'none'`;
  const head = element('head', {}, [
    empty('meta', { charset: 'utf-8' }),
    empty('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    empty('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    empty('meta', { name: 'color-scheme', content: 'light dark' }),
    element('title', {}, title),
    verbatim('style', htmlStyle),
    verbatim('style', accessStyle),
  ]);
  const search = empty('input', { type: 'search', id: 'search', placeholder: 'a name, a group, or env=prod', autocomplete: 'off' });
  const body = element('body', {}, [
    element('main', { id: 'main' }, [
      element('h1', {}, title),
      element('p', {}, [`From ${sourceText(report)}. SHA-256 `, element('code', {}, asText(report['digest'])), '.']),
      element('div', { class: 'tools', role: 'search' }, [
        element('label', {}, ['Search ', search]),
        element('span', { id: 'count', class: 'quiet', 'aria-live': 'polite' }, ''),
      ]),
      element('table', { class: 'access' }, [headRow(), element('tbody', {}, rows.map(rowHtml))]),
    ]),
    element('pre', { id: 'report', hidden: true }, escapeJson(JSON.stringify(report))),
    verbatim('script', accessScript),
  ]);
  return `<!doctype html>\n${element('html', { lang: 'en' }, [head, body]).html}\n`;
}

/** Returns how a policy names an inline style or script. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Returns the report that a page contains; undefined if it contains none, or shows something else. */
export function reportInPage(page: string): JsonObject | undefined {
  const [, text = ''] = /<pre id="report" hidden>([^<]*)<\/pre>/.exec(page) ?? [];
  const report = asObject(parseJson(text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))));
  return renderAccessPage(report) === page ? report : undefined;
}

const sources: Readonly<Record<string, string>> = {
  manifests: 'the manifests alone',
  live: 'the gateway as it is',
  plan: 'the gateway as the plan would leave it',
};

function sourceText({ source, commit }: JsonObject): string {
  const from = sources[asText(source)] ?? '';
  return commit === undefined ? from : `${from}, at commit ${asText(commit).slice(0, 12)}`;
}

const columns = ['connection', 'groups', 'connect', 'exec', 'runbooks', 'decided by', 'since'];

function headRow(): Html {
  return element('thead', {}, [
    element(
      'tr',
      {},
      columns.map((name) => element('th', { scope: 'col' }, name)),
    ),
  ]);
}

function rowHtml(row: JsonObject): Html {
  const tags = Object.entries(asObject(row['tags'])).map(([key, value]) => `${key}=${asText(value)}`);
  const groups = textsIn(row['groups']);
  const { commit, time, author } = asObject(row['since']);
  const verb = (name: string): Html => element('td', { 'data-label': name }, asText(asObject(row[name])['text']));
  const since = commit === undefined ? '' : `${asText(time).slice(0, 10)} ${asText(author)} (${asText(commit).slice(0, 12)})`;
  return element('tr', { 'data-name': [asText(row['connection']), ...tags, ...groups].join(' ').toLowerCase() }, [
    element('th', { scope: 'row' }, [asText(row['connection']), element('div', { class: 'quiet' }, tags.join(', '))]),
    element('td', { 'data-label': 'groups' }, groups.join(', ')),
    verb('connect'),
    verb('exec'),
    verb('runbooks'),
    element('td', { 'data-label': 'decided by', class: 'mono' }, asArray(row['decidedBy']).map(asText).join(', ')),
    element('td', { 'data-label': 'since' }, since),
  ]);
}
