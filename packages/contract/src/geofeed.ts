// The proposal of the geofeed: what the servers' ranges and places come to, and how the saved file differs from that.
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { Done, Id } from './shapes.ts'

/** Where a server stands, in the words of RFC 8805. Without a country nothing is said of its ranges. */
const place = (max: number) =>
  z
    .string()
    .trim()
    .max(max, message('at_most_characters', { max }))
    // Each of these would end a field or the line.
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
  /** Canonical. */
  prefix: z.string(),
  /** The line as it is saved, with its comment; null: there is none. */
  saved: z.string().nullable(),
  /** The line as it is proposed; null: none. */
  proposed: z.string().nullable(),
  /** Whose range it is; null: no server's. */
  server: z.string().nullable()
})
export type GeofeedChange = z.infer<typeof GeofeedChange>

export const GeofeedProposal = z.object({
  changes: z.array(GeofeedChange),
  /** Lines that are saved as they are proposed. */
  same: z.number(),
  /** Saved lines about parts of the servers' ranges, and about ranges of servers without a place: they stay. */
  kept: z.number(),
  servers: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      ranges: z.number(),
      groups: z.array(z.string()),
      /** Null: nobody said. */
      place: ServerPlace.nullable(),
      /** What the names of its groups suggest, where they agree; null: nothing. */
      guess: ServerPlace.nullable()
    })
  )
})
export type GeofeedProposal = z.infer<typeof GeofeedProposal>

export const geofeedRoutes = {
  geofeedProposal: route('GET', '/api/servers/geofeed/', {
    summary: "A geofeed of the servers' ranges and places, and how the saved one differs from it; nothing changes",
    access: 'admin',
    permission: 'settings.view',
    reply: GeofeedProposal
  }),
  savePlaces: route('PUT', '/api/servers/places/', {
    summary: 'Say where servers stand, for the proposal of the geofeed; an empty country takes it back',
    access: 'admin',
    permission: 'servers.change',
    body: PlacesForm,
    reply: Done
  })
}
