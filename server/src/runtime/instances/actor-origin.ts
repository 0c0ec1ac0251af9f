/** Where an instance that is brought into memory comes from. */
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Insert } from './first-insertion.js';

export type ActorOrigin =
  /** A new instance, which is not in the store yet. */
  | { readonly kind: 'new'; readonly insert: Insert }
  /** The record that was read. */
  | { readonly kind: 'loaded'; readonly record: LoadedRecord };

export type LoadedRecord = Pick<
  InstanceRecord,
  'epoch' | 'inSeq' | 'revision' | 'status' | 'state' | 'crashes'
>;
