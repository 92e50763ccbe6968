import type { Json } from '../json.ts';
import type { AccessState } from './access-objects.ts';
import type { Headline } from './protection.ts';

/** A list of objects that decide access and that no manifest declares. */
export type WatchedList = keyof AccessState;

/** One field of a watched object on both sides; a side without the object or the value is absent. */
export type OutsideField = { readonly name: string; readonly before?: Json; readonly after?: Json };

/** A change of a watched object since the last apply. */
export type OutsideChange = {
  readonly list: WatchedList;
  /** Empty for a change of the whole list: access control was switched on or off. */
  readonly name: string;
  readonly happened: 'created' | 'changed' | 'deleted' | 'switched on' | 'switched off';
  readonly managedBy?: string;
  /** Empty for a whole list, and where the record has only a hash of the object. */
  readonly fields: readonly OutsideField[];
  /** The record has only a hash of the object, so the effect of the change is unknown. */
  readonly incomparable?: true;
};

/** What is known of the changes of objects that decide access and that no manifest declares. */
export type OutsideAccess = {
  readonly changes: readonly OutsideChange[];
  /** What the changes together do to connections, the worst first. */
  readonly headlines: readonly Headline[];
  /** The lists that the token cannot read. */
  readonly unreadable: readonly WatchedList[];
  /** The role of the token, if the gateway reports it. */
  readonly role?: string;
  /** The lists with objects that the last apply did not record. */
  readonly unrecorded: readonly WatchedList[];
};
