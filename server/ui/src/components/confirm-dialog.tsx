import { createContext, use, useCallback, useState, type ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.js';

export interface Question {
  readonly title: string;
  readonly text: ReactNode;
  /** The text of the confirming button. */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  /** An option of the action, not selected at first. */
  readonly checkbox?: { readonly label: string; readonly onChange: (isChosen: boolean) => void };
}

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask | null>(null);

/** Asks for confirmation; resolves to false if the user cancels. */
export function useConfirm(): Ask {
  const ask = use(ConfirmContext);
  if (ask === null) throw new Error('useConfirm requires a ConfirmProvider');
  return ask;
}

interface Pending extends Question {
  readonly answer: (isWanted: boolean) => void;
}

export function ConfirmProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [pending, setPending] = useState<Pending | null>(null);
  const ask = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        setPending({
          ...question,
          answer: (isWanted) => {
            setPending(null);
            resolve(isWanted);
          },
        });
      }),
    [],
  );
  return (
    <ConfirmContext value={ask}>
      {children}
      {pending !== null && (
        <FormDialog title={pending.title} onClose={() => pending.answer(false)}>
          <div>{pending.text}</div>
          {pending.checkbox !== undefined && (
            <label className="dialog-checkbox">
              <input
                type="checkbox"
                onChange={({ target }) => pending.checkbox?.onChange(target.checked)}
              />
              <span>{pending.checkbox.label}</span>
            </label>
          )}
          <div className="dialog-buttons">
            <Button onPress={() => pending.answer(false)}>Cancel</Button>
            <Button
              autoFocus
              variant={pending.isDangerous === true ? 'danger' : 'primary'}
              onPress={() => pending.answer(true)}
            >
              {pending.confirm}
            </Button>
          </div>
        </FormDialog>
      )}
    </ConfirmContext>
  );
}

/** A modal dialog that keeps the focus; Escape closes it. */
export function FormDialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
