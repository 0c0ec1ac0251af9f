/** The messages between a tab and the shared worker of all tabs. */
import type { Problem } from '@stepwright/sdk';
import type { LiveBatch } from './change-batch.js';
import type { LiveState } from './follow-stream.js';
import type { Credentials } from './sign-in/credentials.js';

export type TabMessage =
  /** A tab's first message, with its stored credentials, if any. */
  | { readonly type: 'hello'; readonly credentials: Credentials | null }
  /** The user has signed in, or out, in this tab. */
  | { readonly type: 'credentials'; readonly credentials: Credentials | null }
  | { readonly type: 'follow'; readonly token: string | null }
  | { readonly type: 'unfollow' }
  /** The tab has handled the last batch. */
  | { readonly type: 'next' };

export type HubMessage =
  /** The answer to `hello`. */
  | { readonly type: 'welcome'; readonly credentials: Credentials | null }
  /** The user has signed in, or out, in another tab, or the token was renewed. */
  | { readonly type: 'credentials'; readonly credentials: Credentials | null }
  | { readonly type: 'batch'; readonly batch: LiveBatch }
  /** `problem` is the server's answer in the state `refused`. */
  | { readonly type: 'status'; readonly state: LiveState; readonly problem: Problem | null };
