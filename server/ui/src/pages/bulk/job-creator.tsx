/** Shows who created a bulk job, and whether the API key is gone (the job continues without it). */
import type { BulkJobSummary } from '@stepwright/sdk';
import type { ReactNode } from 'react';

export function JobCreator({ job }: { readonly job: BulkJobSummary }): ReactNode {
  const { actor, apiKey } = job;
  return (
    <>
      <bdi>{actor}</bdi>
      {apiKey !== null && apiKey.state !== 'Active' && (
        <span className="badge warning" title={`API key ${apiKey.id}`}>
          key {apiKey.state.toLowerCase()}
        </span>
      )}
    </>
  );
}
