/** The messages of the section "Adopting drift". */
export const adoptCodes = {
  'adopt/both-moved': {
    level: 'warning',
    meaning: 'A conflict is not adopted',
    cause: 'The manifests and the gateway both changed since the last apply',
    fix: 'Run `apply` to use the manifest, or edit the manifest',
    example: 'Connection/orders-db: the manifests and the gateway both changed command',
  },
  'adopt/impossible': {
    level: 'warning',
    meaning: 'A live value is not adopted',
    cause: 'A manifest cannot express the value, or not here',
    fix: 'Edit the manifest, or change the gateway',
    example: 'the manifests cannot accept Connection/orders-db: its name cannot be written in a manifest',
  },
  'adopt/removed': {
    level: 'warning',
    meaning: 'A deleted object keeps its manifest',
    cause: 'An object was deleted outside Ostiary',
    fix: 'Delete the manifest, or let `apply` create the object again',
    example: 'Connection/orders-db was deleted outside Ostiary; its manifest is kept',
  },
  'adopt/selected': {
    level: 'notice',
    meaning: 'A selector matches a new manifest',
    cause: 'The next apply attaches the rule of the selector to the connection',
    fix: 'Nothing; or add an exception to the selector',
    example: 'GuardrailRule/no-drop selects Connection/orders-db',
  },
  'adopt/shared': {
    level: 'notice',
    meaning: 'The edit changes the manifests of another target',
    cause: 'Several targets read the edited files',
    fix: 'Plan the other target; move values for only one target to an overlay',
    example: 'the edit also changes the manifests of staging',
  },
  'adopt/unsure': {
    meaning: 'The edited manifests would still differ from the gateway, so nothing was edited',
    cause: 'A value cannot be written back as it is live',
    fix: 'Edit the manifests, and report this bug with them if possible',
    example: 'nothing was edited: a plan of the edited manifests would still have changes',
  },
} as const;
