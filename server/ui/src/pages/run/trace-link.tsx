import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Fact } from '../../components/fact.js';

/** A link to the trace of the run, if the operator has set where traces are shown. */
export function TraceLink({ traceId }: { readonly traceId: string }): ReactNode {
  const { client } = useSession();
  const { data: info } = useQuery({
    queryKey: ['info'],
    queryFn: ({ signal }) => client.info({ signal }),
    staleTime: Infinity,
  });
  if (info?.traceUrl === undefined) return null;
  return (
    <Fact label="Trace">
      <a
        href={info.traceUrl.replaceAll('{trace_id}', traceId)}
        target="_blank"
        rel="noopener noreferrer"
        title={traceId}
      >
        Show the trace
      </a>
    </Fact>
  );
}
