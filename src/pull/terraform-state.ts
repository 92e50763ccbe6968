import { readStateFile } from '../disk/state-file.ts';
import { terraformProvider } from '../gateway/dialects/choose-dialect.ts';
import { registry } from '../kinds/index.ts';
import { handOverState, type MatchedObjects, readTerraformState, type StateObject } from '../manifest/pull/terraform-state.ts';
import type { DesiredState } from '../model/desired.ts';
import { InputError } from '../model/errors.ts';
import type { PullManifests } from './make-manifests.ts';
import type { ProjectContext } from '../project/project-selection.ts';

/** Reads the objects that a Terraform state owns. Throws InputError for an unreadable or unusable state. */
export function readOwnedObjects(path: string, context: ProjectContext): readonly StateObject[] {
  const { value: file, diagnostics: unread } = readStateFile(path, context.cwd);
  if (file === undefined) throw new InputError(unread);
  const { value, diagnostics } = readTerraformState(file, { ...terraformProvider(), registry });
  if (value === undefined) throw new InputError(diagnostics);
  return value;
}

export type StateHandover = ReturnType<typeof handOverState>;

/** Returns the `removed` blocks that make Terraform forget objects with a manifest, and the addresses of all objects. */
export function handOver(objects: MatchedObjects, { drafts, pulled }: PullManifests, declared: DesiredState): StateHandover {
  const keys = [...declared.resources, ...drafts.drafts].map(({ key }) => key);
  return handOverState(objects, new Set(keys), new Map(pulled.leftOut.map(({ id, reason }) => [id, reason])));
}
