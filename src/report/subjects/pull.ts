import type { PullResult } from '../../model/result/outcome.ts';
import type { ReportDocument } from '../document.ts';
import { plural, type Verdict } from '../wording/summary.ts';
import { documentJson } from '../document-json.ts';

/** Returns the document of a pull; `config` names the config in force. */
export function pullDocument(pulled: PullResult, config?: string): ReportDocument {
  return {
    json: () => documentJson({ version: 1, ...pulled }, 'pull#/$defs/pull'),
    sections: () => [
      {
        verdict: pullVerdict(pulled),
        place: { where: pulled.target.url, config },
        blocks: [{ type: 'pulled', pulled }],
      },
    ],
  };
}

function pullVerdict(pulled: PullResult): Verdict {
  const { preview = false, written, updated, unchanged, terraform } = pulled;
  const counted = unchanged === 0 ? '' : ` ${plural(unchanged, 'manifest')} unchanged.`;
  const forgets = terraform?.file === undefined ? '' : ` Terraform can forget ${plural(terraform.taken.length, 'object')}.`;
  const objects = plural(written.length + updated.length, 'object');
  const [before, after] = preview ? ['A pull from ', ` would write ${objects}; nothing was written.`] : [`Pulled ${objects} from `, '.'];
  return { before, name: pulled.target.name, after: `${after}${counted}${forgets} ${secretsText(pulled)}`.trimEnd() };
}

function secretsText({ secrets: { form, kept, stubs, unseen } }: PullResult): string {
  if (form === 'omit') return 'Secrets are omitted; the gateway keeps their values.';
  const parts = [
    ...(kept > 0 ? [`${plural(kept, 'secret')} kept`] : []),
    ...(stubs > 0 ? [`${plural(stubs, 'variable')} to fill in`] : []),
    ...(unseen > 0 ? [`secrets of ${plural(unseen, 'object')} not shown to this token`] : []),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}
