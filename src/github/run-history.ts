/** How a run ended: the address of its page, and one sentence of letters, digits and simple punctuation. */
export type RunEnd = { readonly url: string; readonly text: string };

const endLine = /^<!-- ostiary run (https?:\/\/[^\s)]+) ([\w ,.:/-]+) -->$/;
const listLine = /^- \[run\]\((https?:\/\/[^\s)]+)\): ([\w ,.:/-]+)$/;
const listTitle = '**Earlier runs**';
const longestList = 10;

/** Returns a comment with the end of this run as a hidden line, and with the ends of the earlier runs that the previous comment names. */
export function withRunHistory(body: string, end: RunEnd, previous: string | undefined): string {
  const earlier = endsIn(previous ?? '')
    .filter(({ url }) => url !== end.url)
    .slice(-longestList);
  const list = earlier.map(({ url, text }) => `- [run](${url}): ${text}\n`).join('');
  const mark = `<!-- ostiary run ${end.url} ${end.text.replaceAll(/[^\w ,.:/-]/g, ' ')} -->\n`;
  return `${mark}${body}${list === '' ? '' : `\n${listTitle}\n\n${list}`}`;
}

/** The most characters that the history adds to a body. */
export const historyRoom = 6000;

/** Returns the ends that a comment names, the oldest first. */
function endsIn(comment: string): readonly RunEnd[] {
  const lines = comment.replaceAll('\r\n', '\n').split('\n');
  const listed = lines.includes(listTitle) ? lines.slice(lines.lastIndexOf(listTitle)) : [];
  return [...listed.map((line) => listLine.exec(line)), endLine.exec(lines[1] ?? '')].flatMap((found) => {
    const [, url, text] = found ?? [];
    return url === undefined || text === undefined ? [] : [{ url, text }];
  });
}
