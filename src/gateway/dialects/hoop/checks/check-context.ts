import type { Pointer } from '../../../../model/pointer.ts';
import type { ServerFeatures } from '../handshake.ts';
import type { IssueTemplates } from './issue-templates.ts';

/** What a proposed write is checked against. */
export type CheckContext = {
  readonly features: ServerFeatures;
  /** The names of the gateway's groups; undefined where it does not list them. */
  readonly groups: readonly string[] | undefined;
  readonly templates: IssueTemplates;
  /** The types of live connections. */
  readonly usedTypes: ReadonlySet<string>;
};

/** Something of one rule that the free license does not allow. */
export type LicenseLimit = { readonly at: Pointer; readonly message: string };
