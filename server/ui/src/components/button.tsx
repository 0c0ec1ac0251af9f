import type { ReactNode } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import type { Scope } from '../app/session.js';
import { useSession } from '../app/session.js';

interface ButtonProps {
  readonly children: ReactNode;
  readonly onPress?: () => void;
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  readonly isPending?: boolean;
  readonly isSmall?: boolean;
  readonly autoFocus?: boolean;
  /** For buttons whose content is a sign. */
  readonly label?: string;
  /** Switched off, with a reason, where the token lacks this scope. */
  readonly needs?: Scope;
  /** Shown while the pointer or the focus is on it. */
  readonly hint?: string;
}

export function Button(props: ButtonProps): ReactNode {
  const { children, label, needs, hint, variant = 'plain', isSmall = false, ...rest } = props;
  const { can } = useSession();
  const isForbidden = needs !== undefined && !can(needs);
  const shownHint = isForbidden ? `Your token lacks the scope conductor:${needs}` : hint;
  const button = (
    <AriaButton
      {...rest}
      isDisabled={rest.isDisabled === true}
      // Still to be focused, so that the reason can be read.
      {...(isForbidden && { 'aria-disabled': true, onPress: () => undefined })}
      {...(label !== undefined && { 'aria-label': label })}
      className={`button ${variant}${isSmall ? ' small' : ''}${isForbidden ? ' forbidden' : ''}`}
    >
      {children}
    </AriaButton>
  );
  if (shownHint === undefined) return button;
  return (
    <TooltipTrigger delay={400}>
      {button}
      <Tooltip className="tooltip" offset={6}>
        {shownHint}
      </Tooltip>
    </TooltipTrigger>
  );
}
