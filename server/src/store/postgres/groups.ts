/** A group commit for each frequent operation. */
import { createActivityClaimGroup } from './activity-claims.js';
import { createCompletionGroup } from './activity-results.js';
import type { Database } from './database.js';
import { createClaimGroup } from './instance-claims.js';
import { createCommitGroup } from './commits.js';
import { createEventGroup } from './event-inserts.js';
import { createInsertGroup } from './inserts.js';
import { createMessageGroup } from './messages.js';
import type { Groups } from './postgres-context.js';

export function createGroups(database: Database): Groups {
  return {
    inserts: createInsertGroup(database),
    commits: createCommitGroup(database),
    messages: createMessageGroup(database),
    claims: createClaimGroup(database),
    activityClaims: createActivityClaimGroup(database),
    completions: createCompletionGroup(database),
    events: createEventGroup(database),
  };
}
