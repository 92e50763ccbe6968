/** What Ostiary does with some routes of the public gateway: it manages, watches or uses them `as` something, or ignores them for a reason. */
export type CoverageRow = {
  readonly is: string;
  readonly as?: string | undefined;
  readonly why?: string | undefined;
  readonly routes: readonly string[];
};

/** The fields of a route: those of a kind, which may have other names there, and those that are ignored, with the reasons. */
export type CoveredFields = {
  readonly of: string;
  readonly kind: string;
  readonly names?: Readonly<Record<string, string | undefined>> | undefined;
  readonly ignored: Readonly<Record<string, string | undefined>>;
};

export type CoverageTable = { readonly rows: readonly CoverageRow[]; readonly fields: readonly CoveredFields[] };

/** The routes of a version of the gateway, and the fields of some of them. */
export type RouteList = {
  readonly version: string;
  readonly routes: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
};

export function findGaps(list: RouteList, table: CoverageTable): readonly string[];
