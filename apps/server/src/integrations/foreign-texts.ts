import { foreignText } from '@netlet/contract/foreign'

// Texts of other services. What is longer is cut, so that no service fills the database, a mail or a screen.

/** An id, a name, a state, a code or a time. */
export const Name = foreignText(255)
/** A sentence about what went wrong. */
export const Message = foreignText(1000)
export const Address = foreignText(2048)
/** What somebody wrote about an order. */
export const Note = foreignText(5000)
/** A list in one text. */
export const Words = foreignText(100_000)
/** A description in HTML. */
export const Page = foreignText(500_000)
