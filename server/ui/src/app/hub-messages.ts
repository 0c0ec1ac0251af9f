/** The messages between a tab and the worker that all tabs of the browser share. */
import type { Problem } from '@stepwright/sdk';
import type { LiveBatch } from './change-batch.js';
import type { LiveState } from './follow-stream.js';

export type TabMessage =
  /** The first message of a tab: the token that it has kept, if any. */
  | { readonly type: 'hello'; readonly token: string | null }
  /** The user has signed in, or out, in this tab. */
  | { readonly type: 'token'; readonly token: string | null }
  | { readonly type: 'follow'; readonly token: string | null }
  | { readonly type: 'unfollow' }
  /** The tab has handled the last batch. */
  | { readonly type: 'next' };

export type HubMessage =
  /** The answer to `hello`. */
  | { readonly type: 'welcome'; readonly token: string | null }
  /** The user has signed in, or out, in another tab. */
  | { readonly type: 'token'; readonly token: string | null }
  | { readonly type: 'batch'; readonly batch: LiveBatch }
  /** `problem` is the server's answer in the state `refused`. */
  | { readonly type: 'status'; readonly state: LiveState; readonly problem: Problem | null };
