/** The origin of an instance that is brought into memory. */
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Insert } from './first-insertion.js';

export type ActorOrigin =
  /** A new instance that isn't stored yet. */
  | { readonly kind: 'new'; readonly insert: Insert }
  /** The stored record. */
  | { readonly kind: 'loaded'; readonly record: LoadedRecord };

export type LoadedRecord = Pick<
  InstanceRecord,
  | 'epoch'
  | 'inSeq'
  | 'queued'
  | 'countsFrom'
  | 'debounceKey'
  | 'revision'
  | 'status'
  | 'state'
  | 'crashes'
  | 'lastChangeAt'
  | 'version'
>;
