// Generated from the folders of src/gateway/dialects by `npm run generate`; do not edit.
export type DialectName = 'interface' | 'hoop';

/** A dialect, or `auto`: the one that the gateway's response suggests. */
export type DialectChoice = 'auto' | DialectName;

/** All dialects; the default first. */
export const dialectNames: readonly DialectName[] = ['interface', 'hoop'];

/** By dialect: the controls to which gateways may add rules that manifests do not contain. */
export const hiddenControls = {
  interface: [],
  hoop: ['review', 'force', 'duration', 'who', 'attributes', 'approval', 'runbooks', 'rulepacks', 'analyzer', 'federation'],
} as const;

/** By dialect: the version of the public gateway that it describes. */
export const describedVersions: Readonly<Record<string, string>> = {
  hoop: '1.148',
};
