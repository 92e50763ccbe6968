import { expect, test } from 'vitest';
import { array, assert, constantFrom, property } from 'fast-check';
import { plainLinesOf } from '../../../src/forge/plain-lines.ts';

const command = '/ostiary apply DIGEST';

/** The lines of the text that hold the command and count as plain. */
function countedIn(text: string): number {
  const plain = plainLinesOf(text);
  return text.split(/\r\n|\r|\n/).filter((line, index) => line.trim() === command && plain.has(index)).length;
}

test.each([
  ['alone', command],
  ['below a sentence', `I checked it.\n${command}`],
  ['above a sentence', `${command}\nthanks`],
  ['after a blank line', `I checked it.\n\n${command}\n`],
  ['indented by three spaces', `   ${command}`],
  ['with the line ends of GitHub', `Good\r\n\r\n${command}\r\n`],
  ['after a byte order mark', `\u{feff}${command}`],
  ['after a comment', `<!-- note: <details> -->\n\n${command}`],
  ['after a closed element', `<details><summary>Plan</summary>\n\nlong\n\n</details>\n\n${command}`],
  ['after a void element', `line<br>\n\n${command}`],
  ['after a quotation and a blank line', `> the bot wrote\n\n${command}`],
  ['after a code block', `\`\`\`\nplan\n\`\`\`\n${command}`],
  ['after a list and a comment', `- one\n\n<!-- end -->\n\n${command}`],
  ['between prices', `It costs $5 or $6.\n${command}`],
])('a command %s is plain', (_, text) => {
  expect(countedIn(text)).toBe(1);
});

test.each([
  ['a fence', `\`\`\`\n${command}\n\`\`\``],
  ['a fence with a language', `\`\`\`sh\n${command}\n\`\`\``],
  ['a longer fence', `\`\`\`\`\n\`\`\`\n${command}\n\`\`\`\n\`\`\`\``],
  ['a fence of tildes', `~~~text\n${command}\n~~~`],
  ['a fence that is never closed', `text\n\`\`\`\n${command}`],
  ['a fence in CRLF', `\`\`\`\r\n${command}\r\n\`\`\``],
  ['an indented block', `The bot wrote\n\n    ${command}\n\nwait`],
  ['a block indented by a tab', `The bot wrote\n\n\t${command}`],
  ['a code span over lines', `see \`this\n${command}\nor that\``],
  ['a double code span', `see \`\`this\n${command}\nor that\`\``],
  ['a comment', `<!--\n${command}\n-->\nlooking`],
  ['a comment with blank lines', `<!--\n\n${command}\n\n-->\nlooking`],
  ['a comment that begins in a sentence', `look <!-- here\n${command}\n--> there`],
  ['a comment that is never closed', `<!--\n\n${command}`],
  ['a quotation', `> ${command}`],
  ['a continued quotation', `> the bot wrote\n${command}`],
  ['a nested quotation', `> > text\n${command}`],
  ['an alert', `> [!NOTE]\n> ${command}`],
  ['a list', `- ${command}`],
  ['a numbered list', `1. ${command}`],
  ['a task list', `- [x] ${command}`],
  ['a continued list', `- one\n${command}`],
  ['a paragraph of a list', `- one\n\n  ${command}`],
  ['a table', `| a |\n|---|\n${command}`],
  ['a heading', `# ${command}`],
  ['an underlined heading', `${command}\n---`],
  ['a link', `[see\n${command}\n](https://example.com)`],
  ['the text of an image', `![see\n${command}\n](https://example.com/a.png)`],
  ['emphasis', `**never\n${command}\nplease**`],
  ['struck text', `~~please\n${command}\nnow~~`],
  ['a footnote', `text[^1]\n\n[^1]: ${command}`],
  ['a folded section', `<details>\n\n${command}\n\n</details>`],
  ['a folded section with attributes', `<details open class="a">\n<summary>x</summary>\n\n${command}\n\n</details>`],
  ['an open element', `<div>\n\n${command}`],
  ['an element with a wrong end', `<details></div>\n\n${command}`],
  ['an element whose attribute looks like an end', `<details title="</details>">\n\n${command}`],
  ['elements that overlap', `<b><details></b>\n\n${command}`],
  ['an element inside a sentence', `text <span>\n${command}\n</span>`],
  ['preformatted text', `<pre>\n${command}\n\n${command}\n</pre>`],
  ['a script', `<script>\n\n${command}\n\n</script>`],
  ['a processing instruction', `<?php\n\n${command}\n\n?>`],
  ['a declaration', `<!X\n${command}\n>`],
  ['character data', `<![CDATA[\n\n${command}\n\n]]>`],
  ['a formula', `$$\n${command}\n$$`],
  ['a definition', `[a]: https://example.com "\n${command}\n"`],
])('a command in %s is not plain', (_, text) => {
  expect(countedIn(text)).toBe(0);
});

test('no text in front of a fence makes its content plain', () => {
  const before = array(constantFrom('text', '> quote', '- item', '', '    code', '<!-- note -->', '# title', '**', '`', '<b>'), {
    maxLength: 6,
  });
  assert(
    property(before, constantFrom('```', '~~~', '````'), (lines, fence) => {
      expect(countedIn([...lines, '', fence, command, fence].join('\n'))).toBe(0);
    }),
  );
});
