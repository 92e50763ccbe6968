import type { Explanation } from '../../model/result/drift.ts';
import { documentJson } from '../document-json.ts';
import type { ReportDocument } from '../document.ts';

/** Returns the document of an explanation. */
export function explainDocument(explanation: Explanation): ReportDocument {
  const { id, at, summary, rows } = explanation;
  // Only a part that has a reason states one.
  const stated = rows.map((row) => ({ ...row, parts: row.parts?.map(({ why, ...part }) => (why === '' ? part : { ...part, why })) }));
  return {
    json: () => documentJson({ ...explanation, rows: stated }, 'explain#/$defs/explain'),
    sections: () => [
      {
        verdict: { before: '', name: id, after: `: ${summary}` },
        ...(at === undefined ? {} : { place: { where: `${at.file}:${at.line}` } }),
        blocks: [{ type: 'explanation', explanation }],
      },
    ],
  };
}
