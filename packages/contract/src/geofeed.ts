// The geofeed proposal: lines computed from the servers' ranges and places, and how the saved file differs.
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { Done, Id } from './shapes.ts'

/** A server's location, as in RFC 8805. Without a country its ranges are not listed. */
const place = (max: number) =>
  z
    .string()
    .trim()
    .max(max, message('at_most_characters', { max }))
    // Characters that would end a field or the line.
    .regex(/^[^,#\p{Cc}]*$/u, message('forbidden_character'))
    .default('')

export const ServerPlace = z.object({ country: place(2), region: place(6), city: place(100), postal: place(20) })
export type ServerPlace = z.output<typeof ServerPlace>

export const PlacesForm = z.object({
  places: z
    .array(ServerPlace.extend({ server_id: Id }))
    .min(1, message('must_select'))
    .max(1000, message('too_many_ids'))
})

export const GEOFEED_CHANGES = ['added', 'changed', 'removed'] as const

/** A line that differs. */
export const GeofeedChange = z.object({
  kind: z.enum(GEOFEED_CHANGES),
  /** In canonical form. */
  prefix: z.string(),
  /** The saved line with its comment; null: none. */
  saved: z.string().nullable(),
  /** The proposed line; null: none. */
  proposed: z.string().nullable(),
  /** The server that owns the range; null: none. */
  server: z.string().nullable()
})
export type GeofeedChange = z.infer<typeof GeofeedChange>

export const GeofeedProposal = z.object({
  changes: z.array(GeofeedChange),
  /** Saved lines that equal the proposal. */
  same: z.number(),
  /** Saved lines about parts of ranges, and about servers without a place. They stay. */
  kept: z.number(),
  servers: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      ranges: z.number(),
      groups: z.array(z.string()),
      /** Null: not set. */
      place: ServerPlace.nullable(),
      /** Derived from the names of its groups if they agree; null: none. */
      guess: ServerPlace.nullable()
    })
  )
})
export type GeofeedProposal = z.infer<typeof GeofeedProposal>

export const geofeedRoutes = {
  geofeedProposal: route('GET', '/api/servers/geofeed/', {
    summary: "Suggested geofeed from the servers' ranges and locations, compared with the saved one; nothing changes",
    access: 'admin',
    permission: 'settings.view',
    reply: GeofeedProposal
  }),
  savePlaces: route('PUT', '/api/servers/places/', {
    summary: 'Set server locations for the suggested geofeed; an empty country clears one',
    access: 'admin',
    permission: 'servers.change',
    body: PlacesForm,
    reply: Done
  })
}
