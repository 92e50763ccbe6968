/** How a run ended: the address of its page, and one sentence of letters, digits and simple punctuation. */
type RunEnd = { readonly url: string; readonly text: string };

const endLine = /^<!-- ostiary run (https?:\/\/[^\s)]+) ([\w ,.:/-]+) -->$/;
const listLine = /^- \[run\]\((https?:\/\/[^\s)]+)\): ([\w ,.:/-]+)$/;
const listTitle = '**Earlier runs**';
const longestList = 10;

/** Returns a report with the end of this run as a hidden line, and with the ends of the earlier runs that the previous report names, as far as there is room. */
export function withRunHistory(body: string, end: RunEnd, previous: string | undefined, room: number): string {
  const earlier = endsIn(previous ?? '')
    .filter(({ url }) => url !== end.url)
    .slice(-longestList);
  const hidden = `<!-- ostiary run ${end.url} ${plainText(end)} -->\n`;
  return `${hidden}${body}${runList(earlier, room - hidden.length)}`;
}

/** Returns the previous report with the end of this run in the list: a run for an older commit changes nothing else. */
export function withOlderRun(end: RunEnd, previous: string, room: number): string {
  const lines = previous.split('\n');
  const at = lines.lastIndexOf(listTitle);
  const body = (at === -1 ? lines : lines.slice(0, at)).join('\n').trimEnd();
  const earlier = listedEnds(lines).filter(({ url }) => url !== end.url);
  return `${body}\n${runList([...earlier, end].slice(-longestList), room)}`;
}

function plainText({ text }: RunEnd): string {
  return text.replaceAll(/[^\w ,.:/-]/g, ' ');
}

/** Lists the newest ends that fit. */
function runList(ends: readonly RunEnd[], room: number): string {
  let kept = '';
  for (const end of ends.toReversed()) {
    const more = `- [run](${end.url}): ${plainText(end)}\n${kept}`;
    if (more.length + listTitle.length + 3 > room) break;
    kept = more;
  }
  return kept === '' ? '' : `\n${listTitle}\n\n${kept}`;
}

/** Returns the most characters that the history adds to a report within a limit. */
export function historyRoom(limit: number): number {
  return Math.min(6000, Math.floor(limit / 4));
}

/** Returns the ends that a report names, the oldest first. */
function endsIn(report: string): readonly RunEnd[] {
  const lines = report.split('\n');
  return [...listedEnds(lines), ...endOf(endLine.exec(lines[0] ?? ''))];
}

function listedEnds(lines: readonly string[]): readonly RunEnd[] {
  const listed = lines.includes(listTitle) ? lines.slice(lines.lastIndexOf(listTitle)) : [];
  return listed.flatMap((line) => endOf(listLine.exec(line)));
}

function endOf(found: RegExpExecArray | null): readonly RunEnd[] {
  const [, url, text] = found ?? [];
  return url === undefined || text === undefined ? [] : [{ url, text }];
}
