import { registry } from '../kinds/index.ts';
import { acknowledgment } from '../manifest/acknowledge.ts';
import { findDeferredReferences } from '../manifest/collect-edges.ts';
import { addToGroup } from '../model/collections.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { type LoadOptions, loadWhole } from '../project/manifests.ts';
import { withDisplayPaths } from './make-manifests.ts';
import type { PullProject } from './pull-project.ts';

const reason = 'the gateway has it';

/**
 * Returns new manifests with a comment above each line that `validate` would warn about, or reject for the gateway: the value is live, and only a
 * write of it would be rejected.
 */
export function acknowledgeFindings(
  manifests: readonly SourceFile[],
  project: PullProject,
  { checkedDialect, inspect }: Required<Pick<LoadOptions, 'checkedDialect' | 'inspect'>>,
): readonly SourceFile[] {
  const shown = withDisplayPaths(manifests, project);
  const files = [...project.sources.files, ...shown];
  const { value, diagnostics } = loadWhole({ ...project.sources, files }, project, { checkedDialect, inspect, everyPlace: true });
  const codes = new Map<string, string[]>();
  for (const { code, severity, at } of [...diagnostics, ...(value === undefined ? [] : findDeferredReferences(value, registry))])
    if (severity !== 'notice' && at !== undefined) addToGroup(codes, `${at.file}:${at.line}`, code);
  return manifests.map((file, index) => ({
    ...file,
    text: withComments(file.text, (line) => codes.get(`${shown[index]?.path ?? ''}:${line}`)),
  }));
}

function withComments(text: string, codesAt: (line: number) => readonly string[] | undefined): string {
  const lines = text.split('\n').map((line, index) => {
    const indent = /^ */.exec(line)?.[0] ?? '';
    const comments = [...new Set(codesAt(index + 1))].map((code) => `${indent}${acknowledgment(code, reason)}\n`);
    return `${comments.join('')}${line}`;
  });
  return lines.join('\n');
}
