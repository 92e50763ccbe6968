import { expect, test } from 'vitest';
import { beginsWithCommand, firstLineOf, parseCommand } from '../../../src/forge/comment-commands.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const allow = `/ostiary allow ${commit} plan/too-many-updates=asked for by the auditors`;

/** The command of a comment; undefined if its first line is none. */
function commandOf(body: string): ReturnType<typeof parseCommand> {
  return beginsWithCommand(body) ? parseCommand(firstLineOf(body)) : undefined;
}

test.each([
  ['alone', allow],
  ['above free text', `${allow}\n\nI checked it.\n/ostiary allow ${commit} plan/window=no`],
  ['with the line ends of GitHub', `${allow}\r\nthanks\r\n`],
  ['with spaces after it', `${allow}  \n`],
])('the first line of a comment is a command: %s', (_, body) => {
  expect(commandOf(body)).toEqual({ name: 'allow', commit, code: 'plan/too-many-updates', reason: 'asked for by the auditors' });
});

test.each([
  ['below a sentence', `I checked it.\n${allow}`],
  ['below an empty line', `\n${allow}`],
  ['indented', ` ${allow}`],
  ['in a fence', `\`\`\`\n${allow}\n\`\`\``],
  ['in a quotation', `> ${allow}`],
  ['in a list', `- ${allow}`],
  ['in a comment', `<!--\n${allow}\n-->`],
  ['in code', `\`${allow}\``],
  ['after a byte order mark', `\u{feff}${allow}`],
  ['without a reason', `/ostiary allow ${commit} plan/window=`],
  ['without a commit', '/ostiary allow plan/window=fine'],
  ['with more than a digest', `/ostiary apply ${'1'.repeat(64)} now`],
  ['that asks for a plan', '/ostiary plan'],
])('%s it is none', (_, body) => {
  expect(commandOf(body)).toBeUndefined();
});
