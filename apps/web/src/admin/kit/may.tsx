import type { ReactNode } from 'react'
import type { Endpoint } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Resource, Row, RowAction } from './resource.ts'

/** Shows its children if the role may make this call. */
export function May({ make, children }: { make: Endpoint; children: ReactNode }) {
  return useMay().mayCall(make) ? children : null
}

/** What the role may do with a resource's rows, in any state. Buttons, shortcuts and addresses offer nothing else. */
export function useMayChange<R extends Row>({ form, edits, remove, takes }: Resource<R>) {
  const { me, may, mayCall } = useMay()
  const change = (row: R, route: Endpoint | undefined) => route !== undefined && mayCall(route) && may(takes?.(row, me))
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
