// Test only: turns a number into an id of any type, for tests without a database.
export const asId = <Id extends number>(id: number): Id => id as Id
