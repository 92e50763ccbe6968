import { relative } from 'node:path';
import { treeWriter } from '../../disk/tree-writer.ts';
import { editFile } from '../../manifest/edit/edit-file.ts';
import { policySchema } from '../../manifest/read-policies.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { addToGroup } from '../../model/collections.ts';
import { formatPosition } from '../../model/diagnostic.ts';
import { InputError } from '../../model/errors.ts';
import { asObject } from '../../model/json.ts';
import { pointer } from '../../model/pointer.ts';
import type { Policy, PolicyReport } from '../../model/protection/policy.ts';
import { readSources, textsByPath } from '../../project/manifests.ts';
import type { OpenProject } from '../../project/project.ts';
import { absolutePath } from '../../project/resolved-config.ts';
import { neededBaseline, type StatedBaseline } from '../../protection/policy/baseline.ts';

/** A target with its policies, and what they found. */
export type JudgedTarget = { readonly project: OpenProject; readonly policies: readonly Policy[]; readonly report: PolicyReport };

type BaselinePair = { readonly connection: string; readonly require: string };

/** The new baseline of a policy, and how it differs from the one in its document. */
export type BaselineEdit = {
  readonly policy: Policy;
  readonly baseline: readonly StatedBaseline[];
  readonly added: readonly BaselinePair[];
  readonly removed: readonly BaselinePair[];
};

/** Returns the policies whose baseline changes. With `isWhole`, the targets are all of the config. */
export function editBaselines(targets: readonly JudgedTarget[], isWhole: boolean): readonly BaselineEdit[] {
  const reports = new Map<string, PolicyReport[]>();
  const policies = new Map<string, Policy>();
  for (const target of targets)
    for (const policy of target.policies) {
      const place = formatPosition(policy.at);
      policies.set(place, policy);
      addToGroup(reports, place, target.report);
    }
  return [...policies].flatMap(([place, policy]): readonly BaselineEdit[] => {
    const baseline = neededBaseline(policy, reports.get(place) ?? [], isWhole || !policy.isShared);
    const [before, after] = [pairsOf(policy.baseline), pairsOf(baseline)];
    const added = [...after].flatMap(([key, pair]) => (before.has(key) ? [] : [pair]));
    const removed = [...before].flatMap(([key, pair]) => (after.has(key) ? [] : [pair]));
    return added.length + removed.length === 0 ? [] : [{ policy, baseline, added, removed }];
  });
}

function pairsOf(baseline: readonly StatedBaseline[]): ReadonlyMap<string, BaselinePair> {
  const pairs = baseline.flatMap(({ require, connections }) => connections.map((connection) => ({ connection, require })));
  return new Map(pairs.map((pair) => [JSON.stringify(pair), pair]));
}

/** Writes baselines into the documents of their policies; comments stay. Throws InputError, before it writes, where a document cannot be edited. */
export function writeBaselines(edits: readonly BaselineEdit[], targets: readonly JudgedTarget[]): void {
  const [first] = targets;
  if (first === undefined || edits.length === 0) return;
  const { config, context } = first.project;
  const texts = new Map(targets.flatMap(({ project }) => [...textsByPath(readSources(project))]));
  const files = [...new Set(edits.map(({ policy }) => policy.at.file))].map((path) => {
    const file = { path, text: texts.get(path) ?? '' };
    const documents = parseDocuments(file).value ?? [];
    const wanted = edits.flatMap(({ policy, baseline }) => {
      const document = documents.find(({ locate }) => formatPosition(locate('')) === formatPosition(policy.at));
      return document === undefined ? [] : [{ index: document.index, edit: editOf(baseline) }];
    });
    const { value, diagnostics } = editFile(file, wanted);
    if (value === undefined || diagnostics.length > 0) throw new InputError(diagnostics);
    return { ...file, next: value.text };
  });
  const writer = treeWriter(config.root);
  for (const { path, text, next } of files) writer.replace(relative(config.root, absolutePath(path, context)), next, text);
}

const path = pointer('spec', 'baseline');
const order = Object.keys(asObject(asObject(asObject(policySchema['properties'])['spec'])['properties']));

function editOf(baseline: readonly StatedBaseline[]): Parameters<typeof editFile>[1][number]['edit'] {
  if (baseline.length === 0) return { edit: 'remove', path };
  return { edit: 'set', path, value: baseline.map((entry) => ({ ...entry })), order };
}
