import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asText, type JsonObject } from '../../src/model/json.ts';
import { emptyPosture, type Posture } from '../../src/protection/controls/control-row.ts';
import { compareTools, toolsRow, unmetTools } from '../../src/protection/controls/tools-row.ts';
import { strictestTools } from '../../src/model/spec/tool-lists.ts';
import { runCount } from '../support/property-runs.ts';

type Lists = { readonly allowed: readonly string[]; readonly denied: readonly string[]; readonly approval: readonly string[] };

const glob = fc.array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const globs = fc.array(glob, { maxLength: 2 });
const lists: fc.Arbitrary<Lists> = fc.record({ allowed: globs, denied: globs, approval: globs });

/** All names of up to six letters; `x` is in no glob. Two different sets of globs of four characters differ on one of them. */
const letters = ['a', 'b', 'x'];
const names = Array.from({ length: 6 }, (_, length) => length + 1).flatMap((length) =>
  Array.from({ length: letters.length ** length }, (_, number) =>
    Array.from({ length }, (_letter, at) => letters[Math.floor(number / letters.length ** at) % letters.length]).join(''),
  ),
);

/** What the agent does, in the words of its documentation: denied wins; with a list of allowed tools, the others are refused. */
function levelOf({ allowed, denied, approval }: Lists, name: string): number {
  const matches = (some: readonly string[]): boolean => some.some((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`).test(name));
  if (matches(denied) || (allowed.length > 0 && !matches(allowed))) return 0;
  return matches(approval) ? 1 : 2;
}

function mapOf({ allowed, denied, approval }: Lists): JsonObject {
  return {
    'envvar:MCP_ALLOWED_TOOLS': allowed.join(', '),
    'envvar:MCP_DENIED_TOOLS': ` ${denied.join(',')},`,
    'envvar:MCP_APPROVAL_TOOLS': approval.join(' , '),
  };
}

function postureOf(own: Lists): Posture {
  const secret = mapOf(own);
  const spec = { subtype: 'mcpproxy', secret };
  const facts = { attributes: [], row: undefined };
  return { ...emptyPosture, controls: { tools: toolsRow.ofConnection?.(spec, Object({ facts, is: emptyPosture.access })) ?? [] } };
}

test('lists of tools let more or less through than before exactly where some tool is treated so', () => {
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const signs = new Set(names.map((name) => Math.sign(levelOf(after, name) - levelOf(before, name))));
      const found = compareTools(postureOf(before), postureOf(after));
      expect([found.lost.length > 0, found.gained.length > 0]).toEqual([signs.has(1), signs.has(-1)]);
      expect(found.incomparable).toEqual([]);
      const back = compareTools(postureOf(after), postureOf(before));
      expect([back.lost.length > 0, back.gained.length > 0]).toEqual([signs.has(-1), signs.has(1)]);
    }),
    { numRuns: runCount(300) },
  );
});

test('an access test of tools is met exactly where every tool that its glob matches is treated so', () => {
  fc.assert(
    fc.property(lists, glob, (own, pattern) => {
      const levels = names
        .filter((name) => levelOf({ allowed: [], denied: [pattern], approval: [] }, name) === 0)
        .map((name) => levelOf(own, name));
      const { unmet, unsure } = unmetTools(postureOf(own), [`denied ${pattern}`, `approval ${pattern}`, `allowed ${pattern}`]);
      const expected = [
        ...(levels.every((level) => level === 0) ? [] : [`denied ${pattern}`]),
        ...(levels.every((level) => level < 2) ? [] : [`approval ${pattern}`]),
        ...(levels.every((level) => level > 0) ? [] : [`allowed ${pattern}`]),
      ];
      expect([unmet, unsure]).toEqual([expected, []]);
    }),
    { numRuns: runCount(300) },
  );
});

function listIn(map: JsonObject, name: string): readonly string[] {
  return asText(map[`envvar:MCP_${name}_TOOLS`])
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

test('the lists between two writes let no tool through that one of both refuses, nor without an approval that one of both asks for', () => {
  fc.assert(
    fc.property(lists, lists, (one, other) => {
      const map = strictestTools(mapOf(one), mapOf(other));
      const between: Lists = { allowed: listIn(map, 'ALLOWED'), denied: listIn(map, 'DENIED'), approval: listIn(map, 'APPROVAL') };
      expect(names.filter((name) => levelOf(between, name) > Math.min(levelOf(one, name), levelOf(other, name)))).toEqual([]);
    }),
    { numRuns: runCount(300) },
  );
});
