import type { BulkJobSummary } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useToasts } from '../../components/toasts.js';
import { handledCount, progressText } from './bulk-actions.js';

/** The progress of a job, with a stop button. */
export function JobProgress({
  job,
  children,
}: {
  readonly job: BulkJobSummary;
  readonly children?: ReactNode;
}): ReactNode {
  const isRunning = job.state === 'Running';
  return (
    <div className={`bulk-progress ${job.state.toLowerCase()}`}>
      <span role="status">{progressText(job)}</span>
      {isRunning && (
        <progress aria-label="Progress" max={Math.max(job.matched, 1)} value={handledCount(job)} />
      )}
      {isRunning && <StopButton id={job.id} />}
      {children}
    </div>
  );
}

function StopButton({ id }: { readonly id: string }): ReactNode {
  const { client, noticeFailure } = useSession();
  const { notifyError } = useToasts();
  const queries = useQueryClient();
  const [isPending, setPending] = useState(false);
  const stop = async (): Promise<void> => {
    setPending(true);
    try {
      await client.bulk.stop(id);
    } catch (error) {
      noticeFailure(error);
      notifyError('The job was not stopped', error);
    } finally {
      await queries.invalidateQueries({ queryKey: ['bulk job', id] });
      await queries.invalidateQueries({ queryKey: ['bulk jobs'] });
      setPending(false);
    }
  };
  return (
    <Button isSmall needs="controller" isPending={isPending} onPress={() => void stop()}>
      Stop
    </Button>
  );
}
