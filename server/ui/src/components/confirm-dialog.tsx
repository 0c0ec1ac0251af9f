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
  /** Puts the focus on Cancel, so that Enter is harmless. */
  readonly isDangerous?: boolean;
  /** The text that the user must type to confirm, such as the number of runs. */
  readonly typed?: string;
  /** An option of the action, not selected at first. */
  readonly checkbox?: { readonly label: string; readonly onChange: (isChosen: boolean) => void };
  /** An optional comment on the action. */
  readonly note?: {
    readonly label: string;
    readonly maxLength: number;
    readonly onChange: (text: string) => void;
  };
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
      {pending !== null && <QuestionDialog {...pending} />}
    </ConfirmContext>
  );
}

function QuestionDialog(props: Pending): ReactNode {
  const { title, text, confirm, isDangerous = false, typed, checkbox, note, answer } = props;
  const [answerText, setAnswerText] = useState('');
  const isTyped = typed === undefined || answerText.trim() === typed;
  return (
    <FormDialog title={title} onClose={() => answer(false)}>
      <div>{text}</div>
      {checkbox !== undefined && (
        <label className="dialog-checkbox">
          <input type="checkbox" onChange={({ target }) => checkbox.onChange(target.checked)} />
          <span>{checkbox.label}</span>
        </label>
      )}
      {note !== undefined && (
        <label className="field">
          <span>{note.label}</span>
          <input
            maxLength={note.maxLength}
            autoComplete="off"
            onChange={({ target }) => note.onChange(target.value)}
          />
        </label>
      )}
      {typed !== undefined && (
        <label className="field">
          <span>Type {typed} to confirm</span>
          <input
            value={answerText}
            autoComplete="off"
            onChange={({ target }) => setAnswerText(target.value)}
          />
        </label>
      )}
      <div className="dialog-buttons">
        <Button autoFocus={isDangerous} onPress={() => answer(false)}>
          Cancel
        </Button>
        <Button
          autoFocus={!isDangerous}
          variant={isDangerous ? 'danger' : 'primary'}
          isDisabled={!isTyped}
          onPress={() => answer(true)}
        >
          {confirm}
        </Button>
      </div>
    </FormDialog>
  );
}

/** A modal dialog that keeps the focus; Escape closes it if it is dismissable. */
export function FormDialog({
  title,
  isDismissable = true,
  onClose,
  children,
}: {
  readonly title: string;
  readonly isDismissable?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
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
