// URLs as they may be logged.

/** Without the ticket of a stream: whoever has it is let in. */
export const loggedUrl = (url: string): string => url.replace(/([?&]ticket=)[^&]*/g, '$1…')
