/** Whether a definition can be started, with a button to change it. */
import type { DefinitionDocument } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';

interface AvailabilityProps {
  readonly definition: DefinitionDocument;
}

/** A note that the definition is disabled, and its consequences. */
export function DisabledNote({ definition }: AvailabilityProps): ReactNode {
  if (definition.disabled !== true) return null;
  return (
    <p className="panel disabled-note" role="status">
      <span className="badge warning">disabled</span> New runs cannot be started. Open runs
      continue.
    </p>
  );
}

/** Disables the definition after a confirmation, or enables it. */
export function AvailabilityButton({ definition: { id, disabled } }: AvailabilityProps): ReactNode {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const queries = useQueryClient();
  const confirm = useConfirm();
  const [isPending, setPending] = useState(false);
  const isDisabled = disabled === true;
  const change = async (): Promise<void> => {
    const isWanted =
      isDisabled ||
      (await confirm({
        title: `Disable ${id}?`,
        text: 'None of its versions can be started until it is enabled again. Open runs continue.',
        confirm: 'Disable',
      }));
    if (!isWanted) return;
    setPending(true);
    try {
      await client.definitions[isDisabled ? 'enable' : 'disable'](id);
      say(isDisabled ? `${id} was enabled.` : `${id} was disabled.`);
    } catch (error) {
      noticeFailure(error);
      notifyError(`${isDisabled ? 'Enable' : 'Disable'} failed`, error);
    } finally {
      setPending(false);
      void queries.invalidateQueries({ queryKey: ['definition', id] });
    }
  };
  return (
    <Button needs="author" isPending={isPending} onPress={() => void change()}>
      {isDisabled ? 'Enable' : 'Disable'}
    </Button>
  );
}
