import { type ComponentPropsWithoutRef, type MouseEvent, type ReactNode, useCallback } from 'react'
import { type Key, useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import type { Endpoint } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Resource, Row, RowAction } from './resource.ts'
import { Button, type ButtonProps, Loader } from '@mantine/core'

/** The words of one resource: `words('code')` is `gift-cards.code` of the console's catalogue. */
export function useWords(resource: string) {
  const t = useT()
  return useCallback(
    (name: string, values?: Record<string, string | number>) => t(`${resource}.${name}` as Key, values),
    [t, resource]
  )
}

/** A total: exact, or '10,000+' if the count stopped. */
export const countText = (total: number, exact: boolean): string => numberText(total) + (exact ? '' : '+')

/** Figures for sentences: 65361 is '65,361'. */
export const figures = <K extends string>(values: Record<K, number>): Record<K, string> =>
  Object.fromEntries(Object.entries<number>(values).map(([name, value]) => [name, numberText(value)])) as Record<
    K,
    string
  >

/** Shows its children if the role may make this call. */
export function May({ make, children }: { make: Endpoint; children: ReactNode }) {
  return useMay().mayCall(make) ? children : null
}

/** What the role may do with a resource's rows, in any state. Buttons, shortcuts and addresses offer nothing else. */
export function useMayChange<R extends Row>({ form, edits, remove, permissionToChange }: Resource<R>) {
  const { me, may, mayCall } = useMay()
  const change = (row: R, route: Endpoint | undefined) =>
    route !== undefined && mayCall(route) && may(permissionToChange?.(row, me))
  return {
    create: form?.create !== undefined && mayCall(form.create),
    edit: (row: R) => change(row, form?.update ?? edits),
    remove: (row: R) => change(row, remove?.route),
    act(row: R, action: RowAction<R>): boolean {
      if ('run' in action) return action.needs === undefined || change(row, action.needs)
      return change(row, 'form' in action ? action.form.route : action.route)
    }
  }
}

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
