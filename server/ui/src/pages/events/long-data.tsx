import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { FormDialog } from '../../components/confirm-dialog.js';
import { JsonView } from '../../components/json-view.js';
import { Loading } from '../../components/loading.js';
import { ProblemView } from '../../components/problem-view.js';

interface LongDataProps {
  readonly eventId: string;
  readonly label: string;
}

/** Data that is too long for the list of events: fetched when the user opens it. */
export function LongData(props: LongDataProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button isSmall onPress={() => setOpen(true)} hint="Longer than 4,096 characters">
        Show
      </Button>
      {isOpen && <DataDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function DataDialog({
  eventId,
  label,
  onClose,
}: LongDataProps & { readonly onClose: () => void }): ReactNode {
  const { client } = useSession();
  const event = useQuery({
    queryKey: ['event', eventId],
    queryFn: ({ signal }) => client.events.get(eventId, { signal }),
    // A published event never changes.
    staleTime: Infinity,
  });
  return (
    <FormDialog title={label} onClose={onClose}>
      {event.isPending && <Loading />}
      {event.error !== null && <ProblemView error={event.error} />}
      {event.data !== undefined && <JsonView value={event.data.data} label={label} />}
      <div className="dialog-buttons">
        <Button autoFocus onPress={onClose}>
          Close
        </Button>
      </div>
    </FormDialog>
  );
}
