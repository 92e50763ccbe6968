import { definedFields, type JsonObject } from '../../model/json.ts';
import type { DifferingManifest, TerraformHandover, TerraformObject, PullResult } from '../../model/result/outcome.ts';
import type { ReportDocument } from '../document.ts';
import { plural, type Verdict } from '../wording/summary.ts';
import { positionObject } from './plan.ts';

/** Returns the document of a pull; `config` names the config in force. */
export function pullDocument(pulled: PullResult, config?: string): ReportDocument {
  return {
    json: () => pulledObject(pulled),
    sections: () => [
      {
        verdict: pullVerdict(pulled),
        place: { where: pulled.target.url, config },
        blocks: [{ type: 'pulled', pulled }],
      },
    ],
  };
}

function pulledObject({
  target,
  preview,
  folder,
  written,
  updated,
  edited,
  unchanged,
  differing,
  gone,
  leftOut,
  unstated,
  secrets,
  files,
  terraform,
}: PullResult): JsonObject {
  return definedFields({
    version: 1,
    target: { ...target },
    preview,
    folder,
    written: written.map((one) => ({ ...one })),
    updated: updated.map((one) => ({ ...one })),
    edited,
    unchanged,
    differing: differing.map(differingObject),
    gone: gone.map(differingObject),
    leftOut: leftOut.map((one) => ({ ...one })),
    unstated: unstated.map((one) => ({ ...one })),
    secrets: { ...secrets },
    files,
    terraform: terraform && terraformObject(terraform),
  });
}

function terraformObject({ taken, gone, kept, file }: TerraformHandover): JsonObject {
  return definedFields({ taken: taken.map(ownedObject), gone: gone.map(ownedObject), kept: kept.map(ownedObject), file });
}

function ownedObject(owned: TerraformObject): JsonObject {
  return { ...owned };
}

function differingObject({ id, at, fields }: DifferingManifest): JsonObject {
  return definedFields({ id, at: at && positionObject(at), fields });
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
