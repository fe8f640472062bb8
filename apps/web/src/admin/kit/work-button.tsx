import { Button, Loader, type ButtonProps } from '@mantine/core'
import type { ComponentPropsWithoutRef, MouseEvent } from 'react'

type Props = Omit<ButtonProps, 'loading'> &
  Omit<ComponentPropsWithoutRef<'button'>, keyof ButtonProps> & { working: boolean }

/** A button that shows progress. It stays enabled, so that it keeps the focus, but does nothing. */
export function WorkButton({ working, leftSection, onClick, ...others }: Props) {
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // Also stops Enter from submitting the form.
    if (working) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <Button
      {...others}
      leftSection={working ? <Loader size={14} color="currentColor" aria-hidden /> : leftSection}
      aria-busy={working}
      aria-disabled={working || others['aria-disabled'] || undefined}
      onClick={press}
    />
  )
}
