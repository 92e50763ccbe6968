import { registry } from '../../../src/kinds/index.ts';
import { loadManifests } from '../../../src/manifest/load-manifests.ts';
import type { Diagnostic } from '../../../src/model/diagnostic.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { RuleSampleResults } from '../../../src/model/protection/protection.ts';
import { ruleInspector } from '../../../src/protection/rule-inspector.ts';
import { patternCache } from '../../../src/protection/pattern/compile.ts';
import { trySamples } from '../../../src/protection/samples/try-samples.ts';

/** A rule's manifest as text; JSON is YAML. */
export function ruleText(kind: string, spec: JsonObject, tests: readonly JsonObject[] = []): string {
  return JSON.stringify({ apiVersion: 'ostiary/v1', kind, metadata: { name: 'rule' }, spec, tests });
}

/** Loads a manifest and looks through its rule. */
export function inspectText(text: string): readonly Diagnostic[] {
  return load(text, ruleInspector('error')).diagnostics;
}

/** What is found in a rule, as codes and the pointers' places in words. */
export function codesIn(kind: string, spec: JsonObject, tests: readonly JsonObject[] = []): readonly string[] {
  return inspectText(ruleText(kind, spec, tests)).map(({ code }) => code);
}

/** Tries a rule on its samples. */
export function sampleResults(kind: string, spec: JsonObject, tests: readonly JsonObject[]): RuleSampleResults {
  const { value, diagnostics } = load(ruleText(kind, spec, tests));
  const [resource] = value?.resources ?? [];
  const trials = resource && trySamples(resource, patternCache());
  if (trials === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return trials;
}

function load(text: string, inspect?: ReturnType<typeof ruleInspector>): ReturnType<typeof loadManifests> {
  return loadManifests({
    files: [{ path: 'rule.yaml', text }],
    overlays: [],
    target: 'test',
    targets: ['test'],
    secretPrefixes: [],
    referencePrefixes: [],
    registry,
    ...(inspect === undefined ? {} : { inspect }),
  });
}

/** A guardrail with entries of words and of patterns on one side. */
export function guardrailSpec(words: readonly string[], patterns: readonly string[] = [], side = 'input'): JsonObject {
  const rules = [
    ...(words.length === 0 ? [] : [{ name: 'words', type: 'deny_words_list', words }]),
    ...patterns.map((pattern_regex, index) => ({ name: `pattern-${index}`, type: 'pattern_match', pattern_regex })),
  ];
  return { [side]: { rules } };
}
