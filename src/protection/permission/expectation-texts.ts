import { durationText } from '../../model/time.ts';
import { type AccessExpectation, type ExpectedApproval, othersGroup } from '../../model/protection/access-test.ts';

/** Returns whom an expectation is about, and where: `contractors on env=prod by exec`. */
function aboutText({ people, on, verbs: asked }: AccessExpectation): string {
  const where = 'tags' in on ? tagsText(on.tags) : on.names.join(', ');
  return `${'groups' in people ? people.groups.join('+') : othersGroup} on ${where}${asked === undefined ? '' : ` by ${asked.join(', ')}`}`;
}

/** Returns an expectation in words: `contractors on env=prod: denied`. */
export function statedText(expectation: AccessExpectation): string {
  return `${aboutText(expectation)}: ${expectedText(expectation)}`;
}

/** Returns tags as `env=prod, team=orders`. */
export function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

/** Returns what an entry expects in words: `approval by at least 2, at most 8 h`. */
export function expectedText({
  expect,
  longest,
  masked,
  blocked,
  tools,
}: Pick<AccessExpectation, 'expect' | 'longest' | 'masked' | 'blocked' | 'tools'>): string {
  const approval = typeof expect === 'string' ? expect : [`approval by at least ${expect.atLeast}`, ...fromTexts(expect)].join(', ');
  return [
    approval,
    ...(longest === undefined ? [] : [`at most ${durationText(longest)}`]),
    ...(masked.length === 0 ? [] : [`masks ${masked.join(', ')}`]),
    ...(blocked.length === 0 ? [] : [`blocks ${blocked.map((text) => JSON.stringify(text)).join(', ')}`]),
    ...(tools.length === 0 ? [] : [`tools ${tools.join(', ')}`]),
  ].join(', ');
}

function fromTexts({ from, forcedBy }: ExpectedApproval): readonly string[] {
  return [
    ...(from.length === 0 ? [] : [`one of ${from.join(', ')}`]),
    ...(forcedBy === undefined ? [] : [forcedBy.length === 0 ? 'forced by no one' : `forced by ${forcedBy.join(', ')} alone`]),
  ];
}
